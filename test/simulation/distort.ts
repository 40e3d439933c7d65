import type { Lasting, Spell, Unclear } from "./weather.ts";

/**
 * A status answer as weather that lasts distorts it: with unclear records, or without a part of them. Otherwise the same object. `at`:
 * seconds since the beginning of the run.
 */
export function distortStatus(body: unknown, lasting: Lasting | undefined, at: number): unknown {
  const { unclear, half } = lasting ?? {};
  let shown = body;
  if (unclear !== undefined && isDuring(unclear, at)) {
    shown = withNodes(shown, (record) =>
      isChosen(record, unclear.share, "unclear") ? blur(record, unclear.how) : record,
    );
  }
  for (const spell of half ?? []) {
    if (!isDuring(spell, at)) continue;
    const isHidden = (record: Fields): boolean => isChosen(record, spell.share, String(spell.from));
    const names = namesOf(shown, isHidden);
    shown = withNodes(shown, (record) => (isHidden(record) ? undefined : record));
    if (!spell.named) shown = withoutNames(shown, names);
  }
  return shown;
}

/** The nodes in a status answer, and whether it lists each as Ready. */
export function nodesShown(body: unknown): readonly { readonly nodeId: string; readonly ready: boolean }[] {
  return nodesOf(body).map((record) => ({
    nodeId: String(record["NodeId"]),
    ready: record["TargetState"] === "Started" && record["Status"] === "Ready",
  }));
}

export function isDuring({ from, until }: Spell, at: number): boolean {
  return from <= at && at < until;
}

type Fields = Readonly<Record<string, unknown>>;

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether a record is one of the share. The choice is the same as long as a spell lasts. */
function isChosen(record: Fields, share: number, salt: string): boolean {
  let hash = 2166136261;
  for (const letter of `${salt} ${String(record["NodeId"])}`)
    hash = Math.imul(hash ^ letter.charCodeAt(0), 16777619) >>> 0;
  return hash % 1000 < share * 1000;
}

function blur(record: Fields, how: Unclear): Fields {
  const { TargetState: _target, ...untargeted } = record;
  const { Status: _status, State: _state, ...unstated } = record;
  switch (how) {
    case "no-target-state":
      return untargeted;
    case "no-status":
      return unstated;
    case "no-state-at-all": {
      const { TargetState: _both, ...rest } = unstated;
      return rest;
    }
    case "new-word":
      return { ...untargeted, Status: "Frobnicating" };
  }
}

function nodesOf(body: unknown): readonly Fields[] {
  const nodes: unknown = isFields(body) ? body["nodes"] : undefined;
  return Array.isArray(nodes) ? nodes.filter(isFields) : [];
}

function withNodes(body: unknown, change: (record: Fields) => Fields | undefined): unknown {
  if (!isFields(body)) return body;
  return { ...body, nodes: nodesOf(body).flatMap((record) => change(record) ?? []) };
}

function namesOf(body: unknown, isHidden: (record: Fields) => boolean): ReadonlySet<unknown> {
  return new Set(
    nodesOf(body)
      .filter(isHidden)
      .map((record) => record["Name"]),
  );
}

/** The buckets neither name nor count these nodes. */
function withoutNames(body: unknown, names: ReadonlySet<unknown>): unknown {
  if (!isFields(body)) return body;
  const arrays: unknown = body["nodearrays"];
  if (!Array.isArray(arrays)) return body;
  const nodearrays = arrays.filter(isFields).map((array) => {
    const buckets: unknown = array["buckets"];
    if (!Array.isArray(buckets)) return array;
    return { ...array, buckets: buckets.filter(isFields).map((bucket) => withoutActive(bucket, names)) };
  });
  return { ...body, nodearrays };
}

function withoutActive(bucket: Fields, names: ReadonlySet<unknown>): Fields {
  const active: unknown = bucket["activeNodes"];
  if (!Array.isArray(active)) return bucket;
  const activeNodes = active.filter((name: unknown) => !names.has(name));
  return { ...bucket, activeNodes, activeCount: activeNodes.length };
}
