import type { Cluster } from "../client/answers.ts";
import { barOf } from "./bar.ts";
import { h, section } from "./dom.ts";
import { explainInto } from "./explanation.ts";
import type { Column, Seen } from "./table.ts";
import { Table } from "./table.ts";
import type { View } from "./view.ts";
import { addressOf } from "./place.ts";
import { fromNow } from "./words.ts";

type SetShown = Cluster["demand"][number];
type OutcomeShown = Cluster["outcomes"][number];
/** A cause of waiting, or a remedy, with the number of all demands that are short. */
type CauseShown = Cluster["waiting"]["reasons"][number] & { readonly of: number };

const jobLink = (requestSet: string, id: string, text: string, { cluster }: Seen) =>
  h("a", { href: addressOf(cluster, "demand", { set: requestSet, job: id }) }, text);

const causes = (head: string): readonly Column<CauseShown>[] => [
  { head: "Demands", cell: ({ demands }) => demands },
  {
    head: "Share",
    cell: ({ demands, of }) => barOf({ busy: demands }, { busy: "demands" }, of),
    order: ({ demands }) => demands,
  },
  { head, cell: ({ text }) => text },
  {
    head: "First",
    cell: ({ first: { requestSet, id } }, seen) => jobLink(requestSet, id, `${requestSet}/${id}`, seen),
  },
];

const SETS: readonly Column<SetShown>[] = [
  { head: "Request set", cell: ({ requestSet }) => requestSet },
  {
    head: "State",
    cell: ({ state, leftOut }) => (leftOut === undefined ? state : `${state}, left out: ${leftOut}`),
  },
  { head: "Demands", cell: ({ demands }) => demands },
  { head: "Short", cell: ({ unmet }) => unmet },
  {
    head: "Asked",
    cell: ({ acceptedAt }, { now }) => fromNow(acceptedAt, now),
    order: ({ acceptedAt }) => acceptedAt,
  },
  {
    head: "Lapses",
    cell: ({ expiresAt }, { now }) => fromNow(expiresAt, now),
    order: ({ expiresAt }) => expiresAt,
  },
  {
    head: "Jobs that cannot be read",
    cell: ({ rejectedJobs, moreRejectedJobs = 0 }) => rejectedJobs.length + moreRejectedJobs,
  },
];

const DEMANDS: readonly Column<OutcomeShown>[] = [
  { head: "Request set", cell: ({ requestSet }) => requestSet },
  { head: "Job or target", cell: ({ requestSet, id }, seen) => jobLink(requestSet, id, id, seen) },
  { head: "User", cell: ({ user }) => user },
  { head: "Asked", cell: ({ asked }) => asked },
  { head: "Placed", cell: ({ placed }) => placed },
  { head: "Booting", cell: ({ pending }) => pending },
  { head: "Missing", cell: ({ asked, placed }) => Math.max(0, asked - placed) },
  { head: "In", cell: ({ unit }) => unit },
  { head: "Why not more", cell: ({ why }) => why },
];

/** What is asked for, what is missing of it, and why. */
export function createDemand(): View {
  const explained = h("div", "");
  const reasons = new Table("What demand waits for", causes("Cause"), { none: "Nothing waits." });
  const remedies = new Table("What would help", causes("Remedy"), { none: "Nothing is needed." });
  const sets = new Table("Request sets", SETS, {
    none: "No request set has asked for anything.",
    text: ({ requestSet, state }) => `${requestSet} ${state}`,
  });
  const demands = new Table("Demands", DEMANDS, {
    none: "No plan has seen any demand.",
    text: ({ requestSet, id, user, why }) => [requestSet, id, user, why].join(" "),
  });
  return {
    element: h(
      "div",
      "",
      explained,
      section("What demand waits for", reasons.element),
      section("What would help", remedies.element),
      section("Request sets", sets.element),
      section("Demands", demands.element),
    ),
    async refresh(api, place) {
      const [state] = await Promise.all([
        api.cluster(place.cluster, true),
        explainInto(explained, api, place),
      ]);
      const seen = { cluster: place.cluster, now: api.now };
      const { waiting } = state;
      const ofAll = (list: typeof waiting.reasons) => list.map((one) => ({ ...one, of: waiting.unmet }));
      reasons.show(ofAll(waiting.reasons), seen);
      remedies.show(ofAll(waiting.remedies), seen);
      sets.show(state.demand, seen);
      demands.show(state.outcomes, seen);
    },
  };
}
