import { expect } from "vitest";

/** A limit of the cluster, as a dry run gets it. */
export const quota = { kind: "family-quota", name: "standardFFamily", unit: "cores" };

/** Invalid bodies of a dry run, each with the problems that the answer names. */
export const BAD_QUESTIONS = [
  {
    name: "unknown keys, with the nearest",
    body: { limit: [] },
    problems: [{ path: "", found: '"limit"', didYouMean: "limits" }],
  },
  {
    name: "a limit of no kind, and one that is both larger and set",
    body: {
      limits: [
        { kind: "quota", unit: "cores", more: 1 },
        { ...quota, more: 1, max: 2 },
      ],
    },
    problems: [
      { path: "limits[0].kind", found: '"quota"', expected: expect.stringContaining("one of cluster, ") },
      { path: "limits[1]", expected: "either more or max: how much the limit grows, or what it is" },
    ],
  },
  {
    name: "a configuration that could not be put",
    body: { config: { idleTimeout: "soon" } },
    problems: [
      {
        path: "config.idleTimeout",
        found: "text of 4 characters",
        expected: "a number of seconds, 0 or more",
      },
    ],
  },
  {
    name: "a demand that could not be pushed",
    body: { requestSets: { mine: { nodearrays: [{ Name: "execute", TargetCount: -1 }] } } },
    problems: [
      {
        path: "requestSets.mine.nodearrays[0].TargetCount",
        found: "-1",
        expected: "a whole number, 0 or more",
      },
    ],
  },
  {
    name: "limits and buckets that the cluster does not have",
    body: {
      limits: [{ kind: "family-quota", name: "standardFFamly", unit: "cores", more: 8 }],
      buckets: [{ nodearray: "execute", machineType: "Standard_F8", enabled: true }],
    },
    problems: [
      {
        path: "buckets[0]",
        found: "execute/Standard_F8",
        expected: "a bucket of the cluster: execute/Standard_F4, other/Standard_F4",
        didYouMean: "execute/Standard_F4",
      },
      {
        path: "limits[0]",
        found: "family-quota standardFFamly in cores",
        didYouMean: "family-quota standardFFamily in cores",
      },
    ],
  },
  {
    name: "a limit with a long name that is not there",
    body: { limits: [{ kind: "nodearray", name: "n".repeat(1000), unit: "nodes", more: 1 }] },
    problems: [{ path: "limits[0]", found: `nodearray ${"n".repeat(190)}…` }],
  },
  { name: "no JSON", body: "{", problems: [{ path: "" }] },
];
