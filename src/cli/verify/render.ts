import { showText } from "../../client/readable.ts";
import { COLUMNS, fold } from "../fold.ts";
import type { Checked } from "./check.ts";

const STATES: Readonly<Record<Checked["state"], string>> = {
  ok: "ok",
  failed: "FAILED",
  "not-applicable": "not applicable",
  "not-tried": "not tried",
};

const INDENT = " ".repeat(27);

/** A completed check as a line, with the remedy below it if it failed. */
export function renderChecked({ check, state, waitsFor, waitedSeconds, found, whatToDo }: Checked): string {
  const begin = `${STATES[state].padEnd(15)} ${check.padEnd(10)} `;
  const waited = state === "failed" ? `waited ${waitedSeconds} s for ${waitsFor}. Found: ` : "";
  const lines = fold(showText(`${waited}${found}`), COLUMNS - INDENT.length);
  const todo = whatToDo === undefined ? [] : fold(`What to do: ${whatToDo}`, COLUMNS - INDENT.length);
  return [...lines, ...todo].map((line, index) => `${index === 0 ? begin : INDENT}${line}`).join("\n");
}

export function renderSummary(checks: readonly Checked[]): string {
  const count = (state: Checked["state"]) => checks.filter((one) => one.state === state).length;
  const failed = checks.filter(({ state }) => state === "failed").map(({ check }) => check);
  const rest = (["not-applicable", "not-tried"] as const)
    .filter((state) => count(state) > 0)
    .map((state) => `${count(state)} ${STATES[state]}`);
  const tail = rest.length === 0 ? "" : `, ${rest.join(", ")}`;
  const cut = checks.filter(({ cutShort }) => cutShort === true).map(({ check }) => check);
  const again =
    cut.length === 0
      ? ""
      : `\n--wait ended before the time of these checks was over, and they may hold later: ${cut.join(", ")}. Run verify again without --wait.`;
  return failed.length === 0
    ? `${count("ok")} checks passed${tail}`
    : `${count("ok")} checks passed, ${failed.length} failed (${failed.join(", ")})${tail}${again}`;
}
