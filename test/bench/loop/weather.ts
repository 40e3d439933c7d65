import type { Misdeed, Weather } from "./proxy.ts";

/** One of these for a share of all calls, each as likely as the others. */
function drawn(share: number, misdeeds: readonly Misdeed[], uniform: () => number): Weather {
  return () => (uniform() < share ? misdeeds[Math.floor(uniform() * misdeeds.length)] : undefined);
}

/** Storage that refuses, breaks connections before and after the effect, and is late. Delays are real milliseconds. */
export function storageFaults(share: number, uniform: () => number): Weather {
  const misdeeds: readonly Misdeed[] = [
    { kind: "refuse", status: 500 },
    { kind: "refuse", status: 503 },
    { kind: "drop-request" },
    { kind: "drop-answer" },
    { kind: "late", ms: 500 },
    { kind: "hold", ms: 500 },
  ];
  return drawn(share, misdeeds, uniform);
}

/** CycleCloud that refuses, shows its login page, cuts answers, loses requests and answers, and is late. */
export function cyclecloudFaults(share: number, uniform: () => number): Weather {
  const misdeeds: readonly Misdeed[] = [
    { kind: "refuse", status: 500 },
    { kind: "refuse", status: 429 },
    { kind: "refuse", status: 503 },
    { kind: "page" },
    { kind: "cut" },
    { kind: "drop-request" },
    { kind: "drop-answer" },
    { kind: "late", ms: 500 },
    { kind: "hold", ms: 500 },
  ];
  return drawn(share, misdeeds, uniform);
}
