//! What a proxy does: it copies from one connection to another.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread;
use std::time::Instant;

use crate::{Handle, Measure, Relay, Runtime, on_worker};

/// How much is copied in a run, in all, and to warm up.
const BYTES: u64 = 1 << 30;
const WARM_UP: u64 = 1 << 24;

/// What the ends read and write at once.
const CHUNK: usize = 1 << 16;

/// 1 GiB through a proxy over loopback. The proxy is a task of the runtime that is measured; the ends, which write and
/// read in chunks of 64 KiB, are threads with blocking sockets. The figure is the time from the first byte to the last,
/// most of which is the kernel's.
#[derive(Clone, Debug)]
pub struct Copying {
    both_ways: bool,
}

impl Copying {
    /// By `copy`, from one end to the other.
    pub const ONE_WAY: Self = Self { both_ways: false };
    /// By `copy_bidirectional`, half of it in each direction, both at the same time.
    pub const BOTH_WAYS: Self = Self { both_ways: true };
}

impl Measure for Copying {
    fn titles(&self) -> Vec<String> {
        let name = if self.both_ways { "copy_bidirectional" } else { "copy" };
        vec![format!("`{name}` of 1 GiB through a proxy, ms")]
    }

    fn runs(&self) -> usize {
        3
    }

    fn prepare<R: Runtime>(&self, runtime: &R) -> u64 {
        self.copy(runtime, WARM_UP).expect("loopback works");
        BYTES
    }

    fn run<R: Runtime>(&self, runtime: &R, bytes: u64) -> Vec<f64> {
        vec![self.copy(runtime, bytes).expect("loopback works")]
    }
}

impl Copying {
    /// The milliseconds that it takes.
    fn copy<R: Runtime>(&self, runtime: &R, bytes: u64) -> io::Result<f64> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let connect = || on_worker(runtime, <R::Handle as Handle>::connect(address));
        let (from, (first, _)) = (connect()?, listener.accept()?);
        let (to, (second, _)) = (connect()?, listener.accept()?);
        let bytes = if self.both_ways { bytes / 2 } else { bytes };
        let both_ways = self.both_ways;
        let start = Instant::now();
        let copied = thread::scope(|scope| {
            let mut ends = vec![scope.spawn(|| write(&first, bytes)), scope.spawn(|| read(&second, bytes))];
            if both_ways {
                ends.extend([scope.spawn(|| write(&second, bytes)), scope.spawn(|| read(&first, bytes))]);
            }
            let copied = on_worker(runtime, async move {
                if both_ways { from.relay_both(to).await } else { Ok((from.relay(to).await?, 0)) }
            })?;
            for end in ends {
                end.join().expect("a thread has panicked")?;
            }
            io::Result::Ok(copied)
        })?;
        let elapsed = start.elapsed();
        assert_eq!(copied, (bytes, if both_ways { bytes } else { 0 }));
        Ok(elapsed.as_secs_f64() * 1e3)
    }
}

fn write(mut stream: &TcpStream, bytes: u64) -> io::Result<()> {
    let chunk = vec![7; CHUNK];
    for _ in 0..bytes / CHUNK as u64 {
        stream.write_all(&chunk)?;
    }
    stream.shutdown(Shutdown::Write)
}

fn read(mut stream: &TcpStream, bytes: u64) -> io::Result<()> {
    let mut chunk = vec![0; CHUNK];
    let mut count = 0;
    loop {
        match stream.read(&mut chunk)? {
            0 => break,
            n => count += n as u64,
        }
    }
    assert_eq!(count, bytes, "bytes were lost on the way");
    Ok(())
}
