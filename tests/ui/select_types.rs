async fn work() -> u32 {
    7
}

async fn not_a_future() {
    rt::select! {
        _ = work() => {}
        _ = 7 => {}
    }
}

async fn not_a_condition() {
    rt::select! {
        _ = work(), if 1 => {}
    }
}

async fn not_the_pattern() {
    rt::select! {
        Some(_) = work() => {}
    }
}

async fn not_the_same_type() -> u32 {
    rt::select! {
        n = work() => n,
        _ = work() => "seven",
    }
}

fn main() {}
