import { showLines } from "../domain/shown.ts";
import type { Api } from "./api.ts";
import { NoAnswer } from "./api.ts";
import { fill, h } from "./dom.ts";
import type { Place } from "./place.ts";
import { addressOf } from "./place.ts";

/** Shows why a job or node is as it is, if the address asks about one. A refusal, such as an unknown name, is shown in its place. */
export async function explainInto(
  element: HTMLElement,
  api: Api,
  { cluster, view, query }: Place,
): Promise<void> {
  const [job, node, set, plan] = ["job", "node", "set", "plan"].map((name) => query.get(name) ?? undefined);
  if (job === undefined && node === undefined) return fill(element);
  const text = await api.explain(cluster, { job, node, set, plan }).then(
    (explained) => explained.text,
    (error: unknown) => {
      if (error instanceof NoAnswer && !error.needsKey) return error.message;
      throw error;
    },
  );
  const name = job === undefined ? `node ${node}` : `${set === undefined ? "" : `${set}/`}${job}`;
  const lines = h("pre", "explained");
  lines.textContent = showLines(text);
  const close = h("a", { href: addressOf(cluster, view) }, "Close");
  fill(element, h("section", "", h("h2", "", `Why ${name} is as it is`), lines, close));
}
