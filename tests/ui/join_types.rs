async fn not_a_future() {
    rt::join!(async {}, 7);
}

async fn another_error() -> Result<(), ()> {
    rt::try_join!(async { Err::<(), ()>(()) }, async { Err::<(), u32>(7) })?;
    Ok(())
}

fn main() {}
