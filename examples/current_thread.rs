//! Everything on one thread: tasks that share what they like without locks, and still wait for timers and sockets.
//!
//! ```text
//! cargo run --example current_thread
//! ```

use std::cell::RefCell;
use std::rc::Rc;

use rt::io::{self, AsyncReadExt, AsyncWriteExt};
use rt::net::{TcpListener, TcpStream};
use rt::task::spawn_local;
use rt::time::{Duration, Instant, sleep};

/// What the tasks did, in order. An `Rc` must not leave its thread, so only `spawn_local` takes a task that has one.
type Diary = Rc<RefCell<Vec<String>>>;

#[rt::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let diary = Diary::default();
    let start = Instant::now();

    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let server = spawn_local(serve(listener, Rc::clone(&diary)));

    let notes = Rc::clone(&diary);
    let timer = spawn_local(async move {
        sleep(Duration::from_millis(20)).await;
        notes.borrow_mut().push(format!("timer: woke after {:.1?}", start.elapsed()));
    });

    let notes = Rc::clone(&diary);
    let client = spawn_local(async move {
        let mut stream = TcpStream::connect(address).await?;
        stream.write_all(b"hello").await?;
        let mut reply = [0; 5];
        stream.read_exact(&mut reply).await?;
        notes.borrow_mut().push(format!("client: got {:?} back", String::from_utf8_lossy(&reply)));
        io::Result::Ok(())
    });

    // A task's handle gives its output, or says that it panicked or was cancelled.
    server.await??;
    client.await??;
    timer.await?;
    for line in diary.borrow().iter() {
        println!("{line}");
    }
    Ok(())
}

/// Echoes five bytes to one client.
async fn serve(listener: TcpListener, diary: Diary) -> io::Result<()> {
    let (mut stream, _) = listener.accept().await?;
    let mut request = [0; 5];
    stream.read_exact(&mut request).await?;
    diary.borrow_mut().push(format!("server: got {:?}", String::from_utf8_lossy(&request)));
    stream.write_all(&request).await
}
