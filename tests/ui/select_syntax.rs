async fn work() -> u32 {
    7
}

async fn empty() {
    rt::select! {}
}

async fn only_biased() {
    rt::select! { biased; }
}

async fn no_pattern() {
    rt::select! {
        work() => {}
    }
}

async fn no_handler() {
    rt::select! {
        n = work(),
    }
}

async fn no_handler_at_the_end() {
    rt::select! {
        _ = work()
    }
}

async fn comma_and_no_condition() {
    rt::select! {
        _ = work(), => {}
    }
}

async fn no_comma() {
    rt::select! {
        _ = work() => drop(1)
        _ = work() => drop(2)
    }
}

async fn else_first() {
    rt::select! {
        else => {}
        _ = work() => {}
    }
}

async fn comparison() {
    rt::select! {
        n == work() => {}
    }
}

fn main() {}
