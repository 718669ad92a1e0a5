//! Orders. They are kept in memory: a restarted demo has none, and the oldest orders are dropped.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::ShopConfig;
use crate::catalogue::Item;
use crate::money::Cents;
use crate::view::View;

/// Maximum number of orders.
const MAX_ORDERS: usize = 10_000;

/// A checkout that the gateway prepared for an order.
#[derive(Clone, Debug)]
pub struct PreparedCheckout {
    /// Id of the checkout. It is a secret, because it is enough to pay the checkout.
    pub id: String,
    /// Subresource integrity of the form's script, for the script tag.
    pub integrity: Option<String>,
}

/// One order.
#[derive(Clone, Debug)]
pub struct ShopOrder {
    /// Its reference, also `merchantTransactionId` at the gateway. It is random, because it is the address of the
    /// order's pages.
    pub reference: String,
    /// The ordered piece.
    pub item: &'static Item,
    /// Number of pieces.
    pub quantity: u32,
    /// Result code that the simulator is asked for, so that a visitor can see a decline.
    pub forced: Option<&'static str>,
    /// True if its e-mail address and its delivery look suspicious to the demo's risk rules.
    pub suspicious: bool,
    /// All checkouts that were prepared for this order; the last is the current one.
    pub checkouts: Vec<PreparedCheckout>,
    /// True if the gateway confirmed a payment.
    pub paid: bool,
}

impl ShopOrder {
    /// Returns the price of the whole order.
    pub fn total_price(&self) -> Cents {
        self.item.price.times(self.quantity)
    }

    /// Returns the address of the page with the payment's result, as the browser sees it, with the settings of `view`.
    pub fn result_url(&self, shop: &ShopConfig, view: View) -> String {
        format!("{}result/{}{}", shop.public, self.reference, view.to_query())
    }

    /// Returns the checkout that can be paid now.
    pub fn current_checkout(&self) -> Option<&PreparedCheckout> {
        self.checkouts.last()
    }

    /// Returns true if the checkout `id` was prepared for this order, also if it is not the current one.
    pub fn has_checkout(&self, id: &str) -> bool {
        self.checkouts.iter().any(|checkout| checkout.id == id)
    }
}

/// All orders. The mutex guards them as a whole, because all requests share them.
#[derive(Debug, Default)]
pub struct Orders(Mutex<OrderTable>);

/// The orders by reference, and the references in the order of their arrival.
#[derive(Debug, Default)]
struct OrderTable {
    orders: HashMap<String, ShopOrder>,
    oldest_first: VecDeque<String>,
}

impl Orders {
    /// Returns a copy of the order with this reference.
    pub fn find(&self, reference: &str) -> Option<ShopOrder> {
        self.lock_table().orders.get(reference).cloned()
    }

    /// Adds an order. Drops the oldest one if there are more than 10,000.
    pub fn add(&self, order: ShopOrder) {
        let mut table = self.lock_table();
        table.oldest_first.push_back(order.reference.clone());
        table.orders.insert(order.reference.clone(), order);
        if table.oldest_first.len() > MAX_ORDERS
            && let Some(oldest) = table.oldest_first.pop_front()
        {
            table.orders.remove(&oldest);
        }
    }

    /// Changes an order, if it still exists.
    pub fn update(&self, reference: &str, change: impl FnOnce(&mut ShopOrder)) {
        if let Some(order) = self.lock_table().orders.get_mut(reference) {
            change(order);
        }
    }

    /// Locks the orders, also after a panic of another thread.
    fn lock_table(&self) -> MutexGuard<'_, OrderTable> {
        // A panic elsewhere leaves valid data: each change is one assignment.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Creates a random order reference such as `KT-7Q2M9XKD4R3T`.
///
/// # Errors
/// If the system provides no random numbers.
pub fn new_reference() -> Result<String, getrandom::Error> {
    // Letters and digits that cannot be confused on the phone. There are 32, so that a byte maps to them without bias.
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

    /// Makes an unpaid order of two bowls, with the checkout `{reference}.c`.
    fn sample_order(reference: &str) -> ShopOrder {
        let checkout = PreparedCheckout { id: format!("{reference}.c"), integrity: None };
        ShopOrder {
            reference: reference.to_owned(),
            item: &ITEMS[1],
            quantity: 2,
            forced: None,
            suspicious: false,
            checkouts: vec![checkout],
            paid: false,
        }
    }

    #[test]
    fn an_order_knows_its_total_and_its_checkouts() {
        let order = sample_order("A");
        assert_eq!(order.total_price(), Cents(7300));
        assert!(order.has_checkout("A.c"));
        assert!(!order.has_checkout("B.c"));
    }

    #[test]
    fn the_oldest_order_makes_room() {
        let orders = Orders::default();
        for n in 0..=MAX_ORDERS {
            orders.add(sample_order(&n.to_string()));
        }
        assert!(orders.find("0").is_none());
        assert!(orders.find("1").is_some());
        assert!(orders.find(&MAX_ORDERS.to_string()).is_some());
    }

    #[test]
    fn references_differ() {
        assert_ne!(new_reference().unwrap(), new_reference().unwrap());
    }
}
