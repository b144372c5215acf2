//! Texts for a terminal: what comes from elsewhere without control characters; times and counts in few columns.

/// Without control characters, which a terminal could take for commands, and with single spaces only.
pub(crate) fn clean(text: &str) -> String {
    let mut cleaned = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            character if character.is_whitespace() => {
                if !cleaned.ends_with(' ') {
                    cleaned.push(' ');
                }
            }
            // Also marks that turn the direction of text round: these could show a line as another one.
            '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => cleaned.push('\u{fffd}'),
            character if character.is_control() => cleaned.push('\u{fffd}'),
            character => cleaned.push(character),
        }
    }
    cleaned.truncate(cleaned.trim_end().len());
    cleaned
}

/// A time, in seven columns at most: `0`, `831ns`, `1.24µs`, `15.3ms`, `2.50s`, `3m12s`, `5h03m`, `9d02h`.
pub(crate) fn time(nanos: u64) -> String {
    const MICRO: u64 = 1_000;
    const MILLI: u64 = 1_000_000;
    const SECOND: u64 = 1_000_000_000;
    let seconds = nanos / SECOND;
    match nanos {
        0 => "0".to_owned(),
        _ if nanos < MICRO => format!("{nanos}ns"),
        // A unit ends where it would be rounded to a thousand.
        _ if nanos < MILLI - MICRO / 2 => format!("{}µs", three_digits(nanos as f64 / 1e3)),
        _ if nanos < SECOND - MILLI / 2 => format!("{}ms", three_digits(nanos as f64 / 1e6)),
        _ if seconds < 60 => format!("{}s", three_digits(nanos as f64 / 1e9)),
        _ if seconds < 3_600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        _ if seconds < 86_400 => format!("{}h{:02}m", seconds / 3_600, seconds / 60 % 60),
        _ => format!("{}d{:02}h", seconds / 86_400, seconds / 3_600 % 24),
    }
}

fn three_digits(value: f64) -> String {
    if value < 9.995 {
        format!("{value:.2}")
    } else if value < 99.95 {
        format!("{value:.1}")
    } else {
        format!("{value:.0}")
    }
}

/// A count or a rate, in six columns at most: `0`, `0.25`, `812`, `12.3k`, `4.56M`.
pub(crate) fn count(value: f64) -> String {
    match value {
        _ if value <= 0.0 => "0".to_owned(),
        _ if value < 999.5 && value.fract() == 0.0 => format!("{value}"),
        _ if value < 999.5 => three_digits(value),
        _ if value < 999_500.0 => format!("{}k", three_digits(value / 1e3)),
        _ if value < 999_500_000.0 => format!("{}M", three_digits(value / 1e6)),
        _ => format!("{}G", three_digits(value / 1e9)),
    }
}

/// A share, as a percentage in four columns.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.0}%", share * 100.0)
}

/// Which time of the day, in UTC.
pub(crate) fn time_of_day(unix_seconds: u64) -> String {
    let of_day = unix_seconds % 86_400;
    format!("{:02}:{:02}:{:02}", of_day / 3_600, of_day / 60 % 60, of_day % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_is_a_command_to_the_terminal() {
        assert_eq!(clean("a\u{1b}]0;title\u{7}b\u{9b}c"), "a\u{fffd}]0;title\u{fffd}b\u{fffd}c");
        assert_eq!(clean(" two\t \n lines \r\n"), " two lines");
        assert_eq!(clean("src/\u{202e}sr.niam"), "src/\u{fffd}sr.niam");
        assert_eq!(clean("größe 𝄞"), "größe 𝄞");
    }

    #[test]
    fn times_have_three_digits_and_one_unit_up_to_a_minute() {
        for (nanos, text) in [
            (0, "0"),
            (999, "999ns"),
            (1_000, "1.00µs"),
            (9_999, "10.0µs"),
            (999_499, "999µs"),
            (999_500, "1.00ms"),
            (15_320_000, "15.3ms"),
            (999_600_000, "1.00s"),
            (59_999_999_999, "60.0s"),
            (192_000_000_000, "3m12s"),
            (18_180_000_000_000, "5h03m"),
            (784_800_000_000_000, "9d02h"),
        ] {
            assert_eq!(time(nanos), text);
        }
        assert!(time(u64::MAX).ends_with('h'));
    }

    #[test]
    fn counts_are_short() {
        let (counts, texts): (Vec<f64>, Vec<&str>) = [
            (-1.0, "0"),
            (0.0, "0"),
            (0.254, "0.25"),
            (7.0, "7"),
            (999.0, "999"),
            (1_000.0, "1.00k"),
            (12_345.0, "12.3k"),
            (999_499.0, "999k"),
            (4_560_000.0, "4.56M"),
            (1e10, "10.0G"),
        ]
        .into_iter()
        .unzip();
        assert_eq!(counts.into_iter().map(count).collect::<Vec<_>>(), texts);
        assert_eq!((percent(0.0), percent(0.534), percent(1.0)), ("0%".into(), "53%".into(), "100%".into()));
        assert_eq!(time_of_day(86_400 + 3_661), "01:01:01");
    }
}
