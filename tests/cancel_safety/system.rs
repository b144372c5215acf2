//! Child processes and signals.

use std::process::Stdio;

use nix::sys::signal::{Signal, raise};
use rt::io::{AsyncReadExt, AsyncWriteExt};
use rt::net::unix::pipe::Receiver;
use rt::process::Command;
use rt::signal::unix::{SignalKind, signal};

use super::{begin, give_up, on_each, poll_once};

fn cat() -> Command {
    let mut command = Command::new("cat");
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

#[test]
fn a_child_can_be_waited_for_again() {
    on_each(async || {
        let mut child = cat().spawn().unwrap();
        let stdin = child.stdin.take();
        give_up(child.wait()).await;
        assert_eq!(child.try_wait().unwrap(), None);
        drop(stdin);
        assert!(child.wait().await.unwrap().success());

        // Killed by the first poll, whether or not that saw the end.
        let mut child = cat().spawn().unwrap();
        let _ = poll_once(std::pin::pin!(child.kill())).await;
        assert!(!child.wait().await.unwrap().success());
    });
}

/// `wait` closes the input of the child, so that it does not wait for one that waits for it.
#[test]
fn a_wait_that_was_given_up_has_closed_the_input() {
    on_each(async || {
        let mut child = cat().spawn().unwrap();
        // The child may end at once.
        begin(child.wait()).await;
        assert!(child.stdin.is_none());
        assert!(child.wait().await.unwrap().success());
    });
}

#[test]
fn the_pipes_of_a_child_lose_nothing() {
    on_each(async || {
        let mut child = cat().spawn().unwrap();
        let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut read = [0; 5];
        give_up(stdout.read(&mut read)).await;
        stdin.write_all(b"hello").await.unwrap();
        stdout.read_exact(&mut read).await.unwrap();
        assert_eq!(&read, b"hello");
        drop(stdin);
        child.wait().await.unwrap();
    });
}

/// Not cancel safe, as documented: these futures own the child, and dropping it leaves it alone.
#[test]
fn output_that_was_given_up_is_lost_and_the_child_goes_on() {
    on_each(async || {
        let (told, tells) = std::io::pipe().unwrap();
        let mut command = Command::new("sh");
        command.arg("-c").arg("read line; echo done >&2");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(tells).spawn().unwrap();
        // It has the end of the pipe that the child writes to.
        drop(command);
        let stdin = child.stdin.take();
        give_up(child.wait_with_output()).await;
        drop(stdin);
        let mut told = Receiver::from_owned_fd(told.into()).unwrap();
        let mut text = String::new();
        told.read_to_string(&mut text).await.unwrap();
        assert_eq!(text, "done\n");
    });
}

#[test]
fn a_signal_that_comes_between_two_calls_is_told() {
    on_each(async || {
        let mut usr1 = signal(SignalKind::user_defined1()).unwrap();
        give_up(usr1.recv()).await;
        raise(Signal::SIGUSR1).unwrap();
        assert_eq!(usr1.recv().await, Some(()));
        give_up(usr1.recv()).await;

        // It comes while the future waits, and the future is dropped unpolled.
        {
            let mut wait = std::pin::pin!(usr1.recv());
            assert!(poll_once(wait.as_mut()).await.is_pending());
            raise(Signal::SIGUSR1).unwrap();
        }
        assert_eq!(usr1.recv().await, Some(()));
    });
}

/// Not cancel safe, as documented: it hears what comes while there is a future.
#[test]
fn a_ctrl_c_that_comes_between_two_calls_is_missed() {
    on_each(async || {
        give_up(rt::signal::ctrl_c()).await;
        // To be sure that the drivers have looked, there is a stream that hears it.
        let mut stream = signal(SignalKind::interrupt()).unwrap();
        raise(Signal::SIGINT).unwrap();
        assert_eq!(stream.recv().await, Some(()));
        give_up(rt::signal::ctrl_c()).await;
    });
}
