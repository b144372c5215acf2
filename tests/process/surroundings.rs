//! What a child is started with: every setting of the command, and what it inherits.

use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;

/// What a program started so prints.
async fn says(command: &mut Command) -> String {
    let output = command.output().await.unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

#[test]
fn every_setting_reaches_the_child() {
    current().block_on(async {
        assert_eq!(says(Command::new("echo").arg("one").args(["two", "three"])).await, "one two three");
        assert_eq!(says(shell("echo $0").arg("zero")).await, "zero");
        assert_eq!(says(Command::new("sh").arg0("another").args(["-c", "echo $0"])).await, "another");
        assert_eq!(says(shell("pwd").current_dir("/")).await, "/");

        assert_eq!(says(shell("echo $A$B$C").env("A", "1").envs([("B", "2"), ("C", "3")])).await, "123");
        assert_eq!(says(shell("echo $A$B").env("A", "1").env("B", "2").env_remove("A")).await, "2");
        assert_eq!(says(shell("echo $HOME$B").env("A", "1").env_clear().env("B", "2")).await, "2");

        let own_group = shell("ps -o pgid= -p $$ 2>/dev/null || cut -d' ' -f5 /proc/$$/stat")
            .process_group(0)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let id = own_group.id().unwrap();
        let output = own_group.wait_with_output().await.unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), id.to_string());

        let mut command = shell("umask");
        // SAFETY: it makes one system call.
        unsafe {
            command.pre_exec(|| {
                nix::libc::umask(0o27);
                Ok(())
            })
        };
        assert_eq!(says(&mut command).await, "0027");
        // SAFETY: it does nothing.
        unsafe { command.pre_exec(|| Err(std::io::Error::from_raw_os_error(nix::libc::EXDEV))) };
        assert_eq!(command.spawn().unwrap_err().raw_os_error(), Some(nix::libc::EXDEV));

        let uid = nix::unistd::getuid().as_raw();
        assert_eq!(says(shell("id -u").uid(uid).gid(nix::unistd::getgid().as_raw())).await, uid.to_string());
        if uid == 0 {
            assert_eq!(says(shell("id -u; id -g").uid(1234).gid(4321)).await, "1234\n4321");
        }
    });
}

#[test]
fn a_command_is_made_of_std_s_and_back() {
    current().block_on(async {
        let mut std = std::process::Command::new("echo");
        std.arg("of");
        let mut command = Command::from(std);
        command.as_std_mut().arg("std");
        assert_eq!(command.as_std().get_args().collect::<Vec<_>>(), ["of", "std"]);
        assert_eq!(says(&mut command).await, "of std");
        let mut std = command.into_std();
        assert_eq!(std.get_program(), "echo");
        assert!(std.arg("again").stdout(Stdio::null()).status().unwrap().success());

        // By a function of the caller's, which may do what only std's command can.
        let mut command = Command::new("echo");
        let child = command.stdout(Stdio::piped()).spawn_with(|std| std.arg("with").arg0("x").spawn()).unwrap();
        assert_eq!(child.wait_with_output().await.unwrap().stdout, b"with\n");
        let error = command.spawn_with(|_| Err(ErrorKind::Unsupported.into())).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
    });
}

/// The program is started by the call, not by the first poll.
#[test]
fn a_program_is_started_at_once() {
    in_own_process(|| {
        current().block_on(async {
            let status = endless().kill_on_drop(true).status();
            let output = endless().kill_on_drop(true).output();
            assert_eq!(children().len(), 2);
            drop((status, output));
        });
    });
}

/// It panics at the caller's line, and has started nothing.
#[test]
fn there_must_be_a_runtime_with_sockets() {
    in_own_process(|| {
        let bare = Builder::new_current_thread().build().unwrap();
        assert!(catch_unwind(|| endless().spawn()).is_err());
        assert!(catch_unwind(AssertUnwindSafe(|| bare.block_on(async { endless().spawn() }))).is_err());
        assert!(catch_unwind(|| drop(endless().status())).is_err());
        assert!(catch_unwind(|| drop(endless().output())).is_err());
        assert!(children().is_empty());
    });
}

/// A task that is dropped by the shutdown starts something: an error, and nothing is left.
#[test]
fn nothing_is_started_when_the_runtime_has_shut_down() {
    struct Starts;
    impl Drop for Starts {
        fn drop(&mut self) {
            let outcome = endless().spawn();
            // Whether the driver is gone by then is the runtime's business; no child may be left in any case.
            if let Ok(mut child) = outcome {
                child.start_kill().unwrap();
            }
        }
    }
    in_own_process(|| {
        on_each_runtime(|runtime| {
            let handle = runtime.handle().clone();
            runtime.spawn(async {
                let _starts = Starts;
                std::future::pending::<()>().await;
            });
            runtime.block_on(rt::task::yield_now());
            drop(runtime);
            let entered = handle.enter();
            assert!(endless().spawn().is_err());
            drop(entered);
            eventually(|| children().is_empty());
        });
    });
}

/// A child inherits the standard streams, and nothing that the runtime has open.
#[test]
fn a_child_inherits_none_of_the_descriptors_of_others() {
    in_own_process_by_signal_too(|| {
        let inherited = |text: String| {
            text.lines()
                .filter(|line| line.contains("pipe:") || line.contains("anon_inode") || line.contains("socket:"))
                .count()
        };
        let list = || {
            let mut command = Command::new("ls");
            command.args(["-l", "/proc/self/fd"]);
            command
        };
        multi(2).block_on(async {
            let before = inherited(says(&mut list()).await);
            let _signal = rt::signal::unix::signal(rt::signal::unix::SignalKind::hangup()).unwrap();
            let mut others: Vec<_> = (0..3)
                .map(|_| endless().stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap())
                .collect();
            drop(others.pop());
            assert_eq!(inherited(says(&mut list()).await), before);
            // By `fork` as well, which is another way in std.
            let mut by_fork = list();
            by_fork.uid(nix::unistd::getuid().as_raw());
            assert_eq!(inherited(says(&mut by_fork).await), before);
        });
    });
}
