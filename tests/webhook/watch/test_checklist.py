"""What a reflector must get right, and the test that shows each.

Files are in this folder; ``e2e`` is ``tests/e2e/test_watching.py``, on a real API server.

1. Full lists are streamed, or read by pages where it cannot, all of it or none:
   test_one_request_lists_and_watches, test_a_kind_is_synced_only_at_the_mark,
   test_the_first_list_is_handed_over_in_parts,
   test_what_changes_while_the_list_is_sent_is_not_lost,
   test_a_stream_that_breaks_within_the_list_leaves_the_old_snapshot,
   test_a_server_that_cannot_stream_is_asked_once,
   test_a_server_that_ignores_the_question_is_asked_once,
   test_a_stream_that_never_ends_its_list_is_not_waited_for, test_a_list_is_read_page_by_page,
   test_a_kind_counts_as_synced_only_after_its_last_page,
   test_an_expired_continue_token_begins_the_list_again;
   e2e test_an_api_server_that_cannot_stream_is_read_by_pages
2. Watches ask for bookmarks and a random length, and silence is found:
   test_watches_ask_for_bookmarks_and_a_random_length,
   test_a_watch_that_ends_goes_on_from_the_last_bookmark,
   test_a_watch_that_falls_silent_goes_on_where_it_was,
   test_a_version_from_before_a_restored_backup_is_given_up,
   test_the_guard_against_silence_is_longer_than_bookmarks_are_apart;
   e2e test_a_connection_that_is_half_open_makes_us_stale_and_then_not_ready
3. Each status has its answer: test_retry_after_is_honoured,
   test_without_a_usable_retry_after_we_back_off_as_usual,
   test_failures_back_off_up_to_a_ceiling, test_a_healthy_minute_forgives_earlier_failures,
   test_a_refused_token_is_read_again, test_a_token_that_cannot_be_read_again_is_said,
   test_forbidden_names_verb_and_resource;
   e2e test_a_token_that_has_ended_is_replaced_without_a_restart,
   e2e test_rights_that_are_taken_away_are_named
4. A place that is lost means a full list, and the old objects until then:
   test_an_expired_watch_lists_again_and_keeps_the_old_objects,
   test_a_refused_version_is_listed_anew, test_a_504_of_another_reason_keeps_our_place;
   e2e test_after_a_compaction_nothing_is_lost_and_nothing_kept
5. Replaced by difference, in one step, versions opaque:
   test_a_list_turns_what_was_into_what_is, test_a_list_that_is_not_finished_changes_nothing,
   test_a_relist_hands_over_only_what_differs, test_a_snapshot_in_hand_never_changes,
   test_an_older_version_counts
6. An object that does not parse stops nobody:
   test_an_object_that_does_not_parse_does_not_stop_the_stream,
   test_one_poisonous_object_does_not_stop_the_others, test_problems_are_counted_by_kind
7. Bursts are few snapshots, and little is kept: test_a_burst_is_one_swap,
   test_a_change_waits_for_its_burst_no_longer_than_50_ms,
   test_namespaces_are_read_as_metadata_only;
   e2e test_a_burst_is_few_snapshots
8. Readiness needs every kind, and none stale: test_readiness_waits_for_every_kind,
   test_silence_makes_us_not_ready, test_a_quiet_kind_is_kept_fresh_by_bookmarks
9. One short look past the watch: test_what_is_found_is_in_the_snapshot_at_once,
   test_many_who_ask_for_the_same_make_one_request,
   test_what_was_not_found_is_not_asked_for_again_for_a_second,
   test_an_answer_that_does_not_come_is_not_waited_for
10. Nothing is kept on disk; ADR 0005 says why.
11. Chaos: test_a_watch_cut_within_a_line_is_taken_up_again, test_lines_may_be_cut_anywhere,
   test_the_largest_object_there_can_be_is_read, test_a_line_above_the_limit_is_survived,
   test_duplicate_events_change_nothing, test_an_older_version_counts,
   test_bytes_that_make_no_line_are_silence, test_a_page_that_drips_has_an_end,
   test_a_name_that_does_not_resolve_for_a_while,
   test_a_clock_that_jumps_is_healed_by_the_next_bookmark;
   e2e test_a_restart_under_load_and_edits_decides_nothing_wrong
"""

import re
from pathlib import Path

HERE = Path(__file__).parent
E2E = Path(__file__).parents[2] / "e2e" / "test_watching.py"
DEFINED = re.compile(r"^(?:async )?def (test_\w+)", re.MULTILINE)


def test_every_test_that_the_list_names_is_there() -> None:
    """A promise whose test was renamed or taken away is noticed."""
    listed = set(re.findall(r"\b(e2e )?(test_\w+)\b(?!\.py)", str(__doc__)))
    here = {name for file in HERE.glob("test_*.py") for name in DEFINED.findall(file.read_text())}
    real = set(DEFINED.findall(E2E.read_text()))
    assert {name for prefix, name in listed if not prefix} <= here
    assert {name for prefix, name in listed if prefix} <= real
