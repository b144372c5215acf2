//! Sockets other than TCP's, and child processes.

use rt_benches::CriterionRows;
use rt_benches::workloads::UdpEcho;
#[cfg(unix)]
use rt_benches::workloads::{Programs, UnixEcho};

fn main() {
    let mut rows = CriterionRows::from_args();
    rows.row(UdpEcho::ONE).row(UdpEcho::MANY);
    #[cfg(unix)]
    rows.row(UnixEcho::ONE).row(UnixEcho::MANY).row(Programs::IN_SEQUENCE).row(Programs::AT_ONCE);
    rows.finish();
}
