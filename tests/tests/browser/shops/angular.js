// A shop in Angular with its router. The template has the form, and the component adds the script.
import "@angular/compiler";
import { Component, inject, provideZonelessChangeDetection } from "@angular/core";
import { bootstrapApplication } from "@angular/platform-browser";
import { ActivatedRoute, RouterOutlet, provideRouter, withHashLocation } from "@angular/router";

const Cart = Component({ selector: "shop-cart", template: "<h1>Cart</h1>" })(class {});

const Pay = Component({
  selector: "shop-pay",
  template: '<form class="paymentWidgets" action="/result?own=2" data-brands="VISA MASTER"></form>',
})(
  class {
    route = inject(ActivatedRoute);
    ngAfterViewInit() {
      // The router keeps the component while only the number changes.
      this.changes = this.route.params.subscribe(({ number }) => {
        if (this.script) this.script.remove();
        this.script = shop.makeScript(number);
        document.body.append(this.script);
      });
    }
    ngOnDestroy() {
      this.changes.unsubscribe();
      this.script.remove();
    }
  },
);

const App = Component({ selector: "main", imports: [RouterOutlet], template: "<router-outlet />" })(class {});
const routes = [
  { path: "pay/:number", component: Pay },
  { path: "**", component: Cart },
];
bootstrapApplication(App, { providers: [provideZonelessChangeDetection(), provideRouter(routes, withHashLocation())] });
