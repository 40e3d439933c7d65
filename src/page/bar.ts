import { h } from "./dom.ts";

type Parts = Readonly<Record<string, number>>;

/** A bar of parts, of a whole that may be larger than they are together. Its text says the same in words. */
export function barOf(parts: Parts, names: Readonly<Record<string, string>>, whole?: number): HTMLElement {
  const there = Object.entries(parts).filter(([, amount]) => amount > 0);
  const sum = there.reduce((all, [, amount]) => all + amount, 0);
  const most = Math.max(whole ?? 0, sum, 1);
  const text = there.map(([name, amount]) => `${amount} ${names[name] ?? name}`).join(", ");
  const label = `${text === "" ? "none" : text}${whole === undefined ? "" : ` of ${whole}`}`;
  const pieces = there.map(([name, amount]) =>
    h("span", { class: `piece ${name}`, width: (100 * amount) / most }),
  );
  return h("div", { class: "bar-of", role: "img", label, title: label }, ...pieces);
}
