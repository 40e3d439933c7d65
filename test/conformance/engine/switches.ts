/**
 * What the library does and this project does not, one switch each: on, the engine does as the library. The number is that of the defect in
 * scalelib.md 24; 0: no defect, but a decision that both could take. The page of deviations says of each what we do.
 */
export const SWITCHES = {
  "plain-numbers-are-bytes": 3,
  "group-false-is-true": 4,
  "defaults-cannot-be-redefined": 7,
  "full-buckets-are-closed": 9,
  "groups-do-not-share": 10,
  "exclusive-packs": 11,
  "not-takes": 12,
  "failed-nodes-are-used": 14,
  "failed-jobs-stay": 15,
  "reservations-stay": 16,
  "slots-of-nothing-pack": 19,
  "amounts-do-not-add-up": 21,
  "arrays-are-not-inherited": 29,
  "nodes-are-not-their-bucket": 30,
  "buckets-lack-infiniband": 31,
  "cluster-nodes-are-not-counted": 32,
  "unknown-sizes-count-minus-one": 33,
  "families-have-no-region": 34,
  "reported-gpus-win": 53,
  "unlisted-groups-are-invisible": 56,
  "nodes-without-machine-count": 0,
  "backoff-counts-alone": 0,
  "choices-see-what-is-left": 0,
  "one-node-refuses-its-bucket": 0,
  "families-have-one-quota": 0,
  "first-quota-counts": 0,
  "nodes-do-not-count-in-buckets": 0,
  "groups-count-for-each-size": 0,
  "true-is-one": 0,
} as const;

export type Switch = keyof typeof SWITCHES;
export type Switches = ReadonlySet<Switch>;

export const ALL_SWITCHES: readonly Switch[] = Object.keys(SWITCHES).filter(isSwitch);

function isSwitch(name: string): name is Switch {
  return name in SWITCHES;
}
