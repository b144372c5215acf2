//! Which key means what.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use crate::state::Action;

/// How many lines a page is.
const PAGE: isize = 20;

/// What a key means, if it means anything; `is_editing` while the filter is being written.
pub(crate) fn action(key: KeyEvent, is_editing: bool) -> Option<Action> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    let with_control = key.modifiers.contains(KeyModifiers::CONTROL);
    if with_control {
        return (key.code == KeyCode::Char('c')).then_some(Action::End);
    }
    if is_editing { while_editing(key.code) } else { otherwise(key.code) }
}

fn while_editing(code: KeyCode) -> Option<Action> {
    Some(match code {
        KeyCode::Enter | KeyCode::Esc => Action::EndEdit,
        KeyCode::Backspace => Action::Erase,
        KeyCode::Char(character) => Action::Type(character),
        _ => return None,
    })
}

fn otherwise(code: KeyCode) -> Option<Action> {
    Some(match code {
        KeyCode::Char('q') => Action::End,
        KeyCode::Down | KeyCode::Char('j') => Action::Move(1),
        KeyCode::Up | KeyCode::Char('k') => Action::Move(-1),
        KeyCode::PageDown => Action::Move(PAGE),
        KeyCode::PageUp => Action::Move(-PAGE),
        KeyCode::Home => Action::First,
        KeyCode::End => Action::Last,
        KeyCode::Tab => Action::NextPage,
        KeyCode::Char('r') => Action::NextRuntime,
        KeyCode::Char('s') => Action::NextSort,
        KeyCode::Char('S') => Action::ReverseSort,
        KeyCode::Char('g') => Action::Group,
        KeyCode::Enter => Action::Open,
        KeyCode::Esc => Action::Clear,
        KeyCode::Char(' ') => Action::Pause,
        KeyCode::Char('/') => Action::EditFilter,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(code: KeyCode, is_editing: bool) -> Option<Action> {
        action(KeyEvent::new(code, KeyModifiers::NONE), is_editing)
    }

    #[test]
    fn letters_are_commands_unless_a_filter_is_written() {
        for (character, command) in [('q', Action::End), ('g', Action::Group), ('S', Action::ReverseSort)] {
            assert_eq!(plain(KeyCode::Char(character), false), Some(command));
            assert_eq!(plain(KeyCode::Char(character), true), Some(Action::Type(character)));
        }
        assert_eq!(plain(KeyCode::Esc, false), Some(Action::Clear));
        assert_eq!(plain(KeyCode::Esc, true), Some(Action::EndEdit));
        assert_eq!(plain(KeyCode::F(1), false), None);
    }

    #[test]
    fn control_and_c_is_always_the_end() {
        for is_editing in [false, true] {
            let key = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
            assert_eq!(action(key, is_editing), Some(Action::End));
            let released = KeyEvent { kind: KeyEventKind::Release, ..key };
            assert_eq!(action(released, is_editing), None);
            let key = KeyEvent::new(KeyCode::Char('q'), KeyModifiers::CONTROL);
            assert_eq!(action(key, is_editing), None);
        }
    }
}
