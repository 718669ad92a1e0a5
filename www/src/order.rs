//! Orders. They live in memory: a demo that is restarted has an empty book, and the oldest orders make room.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::Shop;
use crate::catalogue::Item;
use crate::money::Cents;
use crate::view::View;

/// How many orders are remembered.
const KEPT: usize = 10_000;

/// What the gateway gave for an order that is about to be paid.
#[derive(Clone, Debug)]
pub struct Checkout {
    /// The checkout's id: who knows it may pay it.
    pub id: String,
    /// Subresource integrity of the form's script, for the script tag.
    pub integrity: Option<String>,
}

/// One order.
#[derive(Clone, Debug)]
pub struct Order {
    /// Its reference, also `merchantTransactionId` at the gateway. Random, since it is the address of the order's pages.
    pub reference: String,
    /// What was bought.
    pub item: &'static Item,
    /// How many of it.
    pub quantity: u32,
    /// A result code that the simulator is asked for, so that a visitor can see a decline.
    pub forced: Option<&'static str>,
    /// Every checkout that was ever prepared for this order; the last is the current one.
    pub checkouts: Vec<Checkout>,
    /// Whether the gateway confirmed a payment.
    pub paid: bool,
}

impl Order {
    /// What the shopper owes.
    pub fn total(&self) -> Cents {
        self.item.price.times(self.quantity)
    }

    /// Address of the page that says how the payment ended.
    pub fn result_url(&self, shop: &Shop, view: View) -> String {
        format!("{}result/{}{}", shop.public, self.reference, view.query())
    }

    /// The checkout that can be paid now.
    pub fn current(&self) -> Option<&Checkout> {
        self.checkouts.last()
    }

    /// Whether the checkout `id` was made for this order.
    pub fn owns(&self, id: &str) -> bool {
        self.checkouts.iter().any(|checkout| checkout.id == id)
    }
}

/// The order book.
#[derive(Debug, Default)]
pub struct Orders(Mutex<Book>);

#[derive(Debug, Default)]
struct Book {
    orders: HashMap<String, Order>,
    oldest_first: VecDeque<String>,
}

impl Orders {
    /// The order with this reference.
    pub fn find(&self, reference: &str) -> Option<Order> {
        self.book().orders.get(reference).cloned()
    }

    /// Writes a new order; the oldest one makes room when the book is full.
    pub fn add(&self, order: Order) {
        let mut book = self.book();
        book.oldest_first.push_back(order.reference.clone());
        book.orders.insert(order.reference.clone(), order);
        if book.oldest_first.len() > KEPT
            && let Some(oldest) = book.oldest_first.pop_front()
        {
            book.orders.remove(&oldest);
        }
    }

    /// Changes an order, if it is still there.
    pub fn change(&self, reference: &str, change: impl FnOnce(&mut Order)) {
        if let Some(order) = self.book().orders.get_mut(reference) {
            change(order);
        }
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        // A panic elsewhere leaves the book as it was: each change is one assignment.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A fresh order reference such as `KT-7Q2M9XKD4R3T`.
///
/// # Errors
/// When the system has no random numbers to give.
pub fn new_reference() -> Result<String, getrandom::Error> {
    // Letters and digits that nobody confuses on the phone; 32 of them, so that a byte maps without bias.
    const ALPHABET: &[u8; 32] = b"23456789ABCDEFGHJKLMNPQRSTUVWXYZ";
    let mut random = [0u8; 12];
    getrandom::fill(&mut random)?;
    let tail: String = random.iter().map(|byte| char::from(ALPHABET[usize::from(byte % 32)])).collect();
    Ok(format!("KT-{tail}"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::catalogue::ITEMS;

    fn order(reference: &str) -> Order {
        let checkout = Checkout { id: format!("{reference}.c"), integrity: None };
        Order {
            reference: reference.to_owned(),
            item: &ITEMS[1],
            quantity: 2,
            forced: None,
            checkouts: vec![checkout],
            paid: false,
        }
    }

    #[test]
    fn an_order_knows_its_total_and_its_checkouts() {
        let order = order("A");
        assert_eq!(order.total(), Cents(7300));
        assert!(order.owns("A.c"));
        assert!(!order.owns("B.c"));
    }

    #[test]
    fn the_oldest_order_makes_room() {
        let orders = Orders::default();
        for n in 0..=KEPT {
            orders.add(order(&n.to_string()));
        }
        assert!(orders.find("0").is_none());
        assert!(orders.find("1").is_some());
        assert!(orders.find(&KEPT.to_string()).is_some());
    }

    #[test]
    fn references_differ() {
        assert_ne!(new_reference().unwrap(), new_reference().unwrap());
    }
}
