import type { Content } from "./dom.ts";
import { fill, h } from "./dom.ts";

/** What a cell may need to know beside its row. */
export interface Seen {
  readonly cluster: string;
  /** The app's clock. */
  readonly now: string;
  readonly currency?: string | undefined;
}

/** A column: its head, the cell of a row, and by what rows are sorted if that is not the cell. */
export interface Column<Row> {
  readonly head: string;
  readonly cell: (row: Row, seen: Seen) => Content;
  /** Its cells begin with a number. Absent: those that are numbers are aligned as such. */
  readonly number?: true;
  readonly order?: (row: Row) => string | number | undefined;
}

interface Words<Row> {
  /** What is shown if there are no rows. */
  readonly none: string;
  /** The text of a row that a filter looks into. Absent: the table has no filter. */
  readonly text?: (row: Row) => string;
}

/** Rows that are in the document at a time. */
const ROWS = 100;
/** A table with fewer rows needs no filter. */
const FEW = 10;
const NATURAL = new Intl.Collator("en", { numeric: true });

/** A table that its user can sort, and filter and turn over if it is long. What its user has chosen stays when it shows other rows. */
export class Table<Row> {
  readonly element: HTMLElement;
  readonly #columns: readonly Column<Row>[];
  readonly #words: Words<Row>;
  readonly #heads: readonly HTMLElement[];
  readonly #filter = h("input", "");
  readonly #body = h("tbody", "");
  readonly #count = h("span", { class: "quiet", role: "status" });
  readonly #bar = h("div", "bar", this.#filter, this.#count);
  readonly #turn = h("div", "bar");
  #rows: readonly Row[] = [];
  #seen: Seen = { cluster: "", now: "" };
  #sorted: { readonly column: Column<Row>; readonly down: boolean } | undefined;
  #first = 0;

  constructor(name: string, columns: readonly Column<Row>[], words: Words<Row>) {
    this.#columns = columns;
    this.#words = words;
    this.#heads = columns.map((column) =>
      h("th", "", h("button", { onclick: () => this.#sortBy(column) }, column.head)),
    );
    this.#filter.type = "search";
    this.#filter.placeholder = "Filter";
    this.#filter.setAttribute("aria-label", `Filter ${name}`);
    this.#filter.addEventListener("input", () => this.#render());
    const head = h("thead", "", h("tr", "", ...this.#heads));
    const scroll = h(
      "div",
      { class: "scroll", role: "region", label: name },
      h("table", { label: name }, head, this.#body),
    );
    scroll.tabIndex = 0;
    this.element = h("div", "", this.#bar, scroll, this.#turn);
  }

  show(rows: readonly Row[], seen: Seen): void {
    this.#rows = rows;
    this.#seen = seen;
    this.#render();
  }

  #sortBy(column: Column<Row>): void {
    this.#sorted = { column, down: this.#sorted?.column === column && !this.#sorted.down };
    this.#first = 0;
    this.#render();
  }

  /** The rows that match the filter, sorted. */
  #chosen(): readonly Row[] {
    const { text } = this.#words;
    const wanted = this.#filter.value.toLowerCase();
    const rows =
      wanted === "" || text === undefined
        ? this.#rows
        : this.#rows.filter((row) => text(row).toLowerCase().includes(wanted));
    if (this.#sorted === undefined) return rows;
    const { column, down } = this.#sorted;
    const order = (row: Row) =>
      column.order === undefined ? orderOf(column.cell(row, this.#seen)) : column.order(row);
    return rows.toSorted((a, b) => (down ? -1 : 1) * compare(order(a), order(b)));
  }

  #render(): void {
    const rows = this.#chosen();
    if (this.#first >= rows.length) this.#first = 0;
    const shown = rows.slice(this.#first, this.#first + ROWS);
    const cells = shown.map((row) => this.#columns.map(({ cell }) => cell(row, this.#seen)));
    for (const [index, { number, head }] of this.#columns.entries()) {
      const isSorted = this.#sorted?.column === this.#columns[index];
      const order = this.#sorted?.down === true ? "descending" : "ascending";
      this.#heads[index]?.setAttribute("aria-sort", isSorted ? order : "none");
      const isNumber = number ?? cells.some((row) => typeof row[index] === "number");
      this.#heads[index]?.classList.toggle("number", isNumber && head !== "");
    }
    const none = h("td", "quiet", this.#rows.length === 0 ? this.#words.none : "Nothing matches the filter.");
    none.colSpan = this.#columns.length;
    const lines = cells.map((row) =>
      row.map((content, index) => cellOf(content, this.#columns[index]?.number)),
    );
    fill(
      this.#body,
      ...(lines.length === 0 ? [h("tr", "", none)] : lines.map((line) => h("tr", "", ...line))),
    );
    this.#bar.hidden = this.#words.text === undefined || this.#rows.length <= FEW;
    fill(
      this.#count,
      `${rows.length.toLocaleString("en-US")} of ${this.#rows.length.toLocaleString("en-US")}`,
    );
    this.#renderTurn(rows.length, shown.length);
  }

  #renderTurn(count: number, shown: number): void {
    const button = (text: string, to: number) => {
      const turn = () => {
        this.#first = to;
        this.#render();
      };
      const made = h("button", { onclick: turn }, text);
      made.disabled = to < 0 || to >= count;
      return made;
    };
    const span = `${this.#first + 1} to ${this.#first + shown} of ${count}`;
    fill(this.#turn, button("Previous", this.#first - ROWS), span, button("Next", this.#first + ROWS));
    this.#turn.hidden = count <= ROWS;
  }
}

/** A text this short stands in one line; a longer one has room for some words. */
const SHORT = 24;

function cellOf(content: Content = "–", isNumber = typeof content === "number"): HTMLElement {
  if (isNumber)
    return h("td", "number", typeof content === "number" ? content.toLocaleString("en-US") : content);
  return h("td", String(orderOf(content)).length <= SHORT ? "short" : "long", content);
}

function orderOf(content: Content): string | number | undefined {
  return content instanceof Node ? (content.textContent ?? "") : content;
}

/** Numbers by size, texts as people do, and what is absent last. */
function compare(a: string | number | undefined, b: string | number | undefined): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  return typeof a === "number" && typeof b === "number" ? a - b : NATURAL.compare(String(a), String(b));
}
