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

async fn biased_with_a_comma() {
    rt::select! {
        biased,
        _ = work() => {}
    }
}

async fn biased_with_nothing() {
    rt::select! {
        biased
        _ = work() => {}
    }
}

async fn biased_in_the_middle() {
    rt::select! {
        _ = work() => {}
        biased;
        _ = work() => {}
    }
}

async fn no_future() {
    rt::select! {
        _ = => {}
    }
}

async fn no_condition() {
    rt::select! {
        _ = work(), if => {}
    }
}

async fn nothing_after_the_arrow() {
    rt::select! {
        _ = work() =>,
        _ = work() => {}
    }
}

async fn two_futures() {
    rt::select! {
        _ = work() work() => {}
    }
}

async fn else_with_a_future() {
    rt::select! {
        _ = work() => {}
        else = work() => {}
    }
}

fn main() {}
