//! The conformance suite: the guarantees of every store backend, as tests of the store's public methods.
//!
//! A backend implements [`Backend`], and `conformance_suite!(path::of::TheBackend)` creates one test for each
//! guarantee. The suite does not use SQL: each guarantee is tested with the methods that every caller of the store
//! has.

pub(crate) mod decisions;
pub(crate) mod outbox;
pub(crate) mod reads;
pub(crate) mod retention;
pub(crate) mod review_callbacks;
pub(crate) mod risk_counters;
pub(crate) mod samples;
pub(crate) mod timers;

use std::sync::Arc;

use crate::entity_directory::Directory;
use crate::{AdminStore, Store};

/// A backend under test.
pub(crate) trait Backend {
    /// True if the writes of other processes are noticed, so that what was read stays valid until then.
    const NOTICES_OTHERS: bool = true;

    /// Creates a backend without data. Its data is deleted when the value is dropped.
    fn create() -> Self;

    /// Opens the store like a server, and fills the directory from it.
    fn open_store_with(&self, directory: Arc<Directory>) -> Arc<Store>;

    /// Opens the store like a command that runs at the same time as a server.
    fn open_admin(&self) -> AdminStore;

    /// Opens the store like a server, with a directory that the test does not see.
    fn open_store(&self) -> Arc<Store> {
        self.open_store_with(samples::empty_directory())
    }
}

/// Creates the tests of all guarantees for a backend. A guarantee that is not in this list is dead code, which the
/// compiler reports.
macro_rules! conformance_suite {
    ($backend:ty) => {
        conformance_suite! {
            $backend;
            decisions {
                concurrent_decisions_about_one_checkout_are_taken_one_after_the_other
                a_decision_sees_everything_that_was_committed_before_it
                a_payment_that_has_changed_since_it_was_read_is_loaded_again
                a_refused_decision_writes_nothing
                of_two_decisions_that_were_prepared_on_one_version_one_is_refused
                a_write_that_fails_takes_nothing_from_its_neighbours
                what_was_answered_is_there_when_the_store_is_opened_again
                a_checkout_has_one_pending_or_approved_payment
                the_amount_and_the_final_result_of_a_payment_never_change
                follow_up_payments_stay_within_the_amount
                a_reference_is_paid_by_a_payment_that_succeeded_or_may_yet
                a_wallet_token_pays_once
            }
            reads {
                payments_are_paged_in_the_order_of_their_ids_across_entities
                payments_are_counted_up_to_a_limit
                payments_of_a_reference_come_with_what_belongs_to_them
                a_payment_is_found_by_its_entity_and_by_its_page_only
                attempts_that_share_parameters_are_read_complete
                a_change_of_a_payment_or_its_reference_is_noticed
                a_token_that_a_command_makes_or_revokes_is_noticed
                the_first_and_the_latest_messages_of_a_connector_are_kept
            }
            timers {
                timers_are_due_in_the_order_in_which_they_began
                a_payment_that_gets_its_outcome_stops_its_timer
                a_reminder_waits_while_its_attempt_is_pending
                a_reminder_is_about_the_last_attempt
                an_outcome_is_looked_up_until_it_is_written
                a_clock_that_is_moved_moves_what_has_begun
                a_move_of_a_clock_is_decided_where_the_one_before_has_left_it
            }
            outbox {
                a_message_is_claimed_once_and_sent_until_it_is_taken
                a_message_of_a_node_that_starts_again_is_free
                a_sender_that_was_stopped_for_too_long_makes_no_message_due_again
                an_event_is_written_for_each_active_webhook_that_listens
                the_events_of_a_risk_check_follow_those_of_its_payment
                a_notification_is_written_when_the_outcome_comes_later
                a_refused_decision_sends_nothing
                whoever_waits_for_messages_learns_of_one
                the_event_of_an_expired_registration_wakes_the_delivery
            }
            review_callbacks {
                a_decision_is_reported_by_the_nearest_callback_with_its_payment
                a_callback_that_fails_is_listed_until_it_is_deleted
            }
            retention {
                an_answer_is_replayed_until_its_day_is_over
                the_second_request_of_a_name_writes_nothing
                a_response_is_replaced_by_the_same_request_alone
                a_card_is_kept_until_its_time_has_come
                a_registration_that_ends_loses_its_account_and_its_chains
                accounts_without_a_registration_block_no_others
                a_promise_is_kept_until_it_is_settled_or_too_old
                a_promised_date_is_told_from_a_promised_registration
                a_renewed_account_takes_the_place_of_the_stored_one
                everything_that_needs_a_vault_key_is_counted_until_it_is_gone
                changes_of_velocity_counts_are_added_up
                records_of_attempts_are_kept_until_they_end_or_an_approval_deletes_them
                a_build_of_the_form_is_loaded_as_it_was_stored
            }
            risk_counters {
                concurrent_payments_see_different_counts
                counters_of_an_entity_outlive_a_restart
                counters_are_deleted_when_they_end
                counters_that_were_not_loaded_in_the_same_write_are_refused
            }
        }
    };
    ($backend:ty; $($subject:ident { $($guarantee:ident)* })*) => {
        $(mod $subject {
            use crate::conformance::{Backend, $subject};

            $(#[tokio::test(flavor = "multi_thread")]
            async fn $guarantee() {
                $subject::$guarantee(<$backend as Backend>::create()).await;
            })*
        })*
    };
}
pub(crate) use conformance_suite;
