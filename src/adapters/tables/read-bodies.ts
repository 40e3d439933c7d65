import { PortError } from "../../app/ports/port-error.ts";
import { entriesRead } from "../../domain/request-sets.ts";
import type { SchedulerNode, SetDemand } from "../../domain/demand.ts";
import type { ClusterName, Digest } from "../../domain/ids.ts";
import type { Bodies } from "../../domain/bodies.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { SetEntry, Aside } from "../../domain/request-sets.ts";
import type { BodyRows } from "./bodies.ts";
import type { BodyIndex, BodyRef, EntryKey } from "./body-index.ts";
import { demandKey, reportKey } from "./body-index.ts";
import type { EntryValue } from "./codec.ts";
import { entryCodec, isReport, ledgerCodec, packCodec, plainCodec, questionsCodec } from "./codec.ts";
import { planCodec, virtualCodec } from "./plan-codec.ts";
import { clusterPartition } from "./keys.ts";

/** All bodies that the record names. Undefined if one is missing. */
export async function readBodies(
  bodies: BodyRows,
  record: ClusterRecord,
  index: BodyIndex,
  aside: Aside,
): Promise<Bodies | undefined> {
  const entries = entriesRead(record, aside);
  const partition = clusterPartition(record.cluster);
  const [seen, ledger, questions, plan, virtual, values] = await Promise.all([
    index.seen && bodies.read(partition, index.seen, plainCodec<NonNullable<Bodies["seen"]>>()),
    index.ledger && bodies.read(partition, index.ledger, ledgerCodec),
    index.questions && bodies.read(partition, index.questions, questionsCodec),
    index.plan && bodies.read(partition, index.plan, planCodec),
    // A missing one counts as none: the fleet starts again.
    index.virtual && bodies.read(partition, index.virtual, virtualCodec),
    readValues(bodies, partition, index, new Set(entries.flatMap(keysOf))),
  ]);
  const isMissing = (ref: BodyRef | undefined, value: unknown) => ref !== undefined && value === undefined;
  if (isMissing(index.seen, seen) || isMissing(index.ledger, ledger) || isMissing(index.plan, plan))
    return undefined;
  if (isMissing(index.questions, questions)) return undefined;
  if (values === undefined) return undefined;
  return {
    ...chooseNamed(record.cluster, entries, values),
    ...(aside.size === 0 ? {} : { aside }),
    ledger: ledger ?? new Map(),
    ...(questions === undefined ? {} : { questions }),
    ...(seen === undefined ? {} : { seen }),
    ...(plan === undefined ? {} : { plan }),
    ...(virtual === undefined ? {} : { virtual }),
  };
}

/** Where to find the value of an entry key. */
type Lookup = (key: string) => EntryValue | undefined;

/** `wanted`: the keys of bodies of their own that are read. */
async function readValues(
  bodies: BodyRows,
  partition: string,
  index: BodyIndex,
  wanted: ReadonlySet<EntryKey>,
): Promise<Lookup | undefined> {
  const packRefs = index.packs.filter((ref) => ref !== undefined);
  const [packs, own] = await Promise.all([
    Promise.all(packRefs.map((ref) => bodies.read(partition, ref, packCodec))),
    Promise.all(
      [...index.own]
        .filter(([key]) => wanted.has(key))
        .map(async ([key, ref]) => ({
          key,
          value: await bodies.read(partition, ref, entryCodec),
        })),
    ),
  ]);
  const values = new Map<string, EntryValue>();
  for (const content of packs) {
    if (content === undefined) return undefined;
    for (const [key, value] of content) values.set(key, value);
  }
  for (const { key, value } of own) {
    if (value === undefined) return undefined;
    values.set(key, value);
  }
  return (key) => values.get(key);
}

/** The keys of an entry's demand and report. */
function keysOf(entry: SetEntry): readonly EntryKey[] {
  const report = reportKey(entry);
  return report === undefined ? [demandKey(entry)] : [demandKey(entry), report];
}

/** The demands and reports of the entries. A pack may contain others. */
function chooseNamed(
  cluster: ClusterName,
  entries: readonly SetEntry[],
  valueOf: Lookup,
): Pick<Bodies, "demands" | "reports"> {
  const demands = new Map<Digest, SetDemand>();
  const reports = new Map<Digest, readonly SchedulerNode[]>();
  const choose = (key: string): EntryValue => valueOf(key) ?? absent(cluster, key);
  for (const entry of entries) {
    const demand = choose(demandKey(entry));
    if (!isReport(demand)) demands.set(entry.digest, demand);
    const key = reportKey(entry);
    if (entry.report === undefined || key === undefined) continue;
    const report = choose(key);
    if (isReport(report)) reports.set(entry.report, report);
  }
  return { demands, reports };
}

/** Every save puts all that it names into a pack or a body of its own, so this means a broken store, not a changed record. */
function absent(cluster: ClusterName, key: string): never {
  throw new PortError("unexpected", `read bodies of ${cluster}`, `no pack holds ${key}`);
}
