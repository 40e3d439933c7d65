import { z } from "zod";

/** A line of a host's log, and when this process heard it (real milliseconds since 1970). */
export interface HostLine {
  readonly heardAt: number;
  /** The port of the host. */
  readonly port: number;
  readonly level: string;
  /** The name of the app's event; undefined: the host's own words. */
  readonly event?: string;
  readonly set?: string;
  readonly outcome?: string;
  readonly message: string;
}

const line = z.object({ level: z.string(), message: z.string() });
const said = z.object({ event: z.string(), set: z.string().optional(), outcome: z.string().optional() });

/** Never throws: what is no JSON is the app's or Node's own output, and counts as an error. */
export function readHostLine(text: string, heardAt: number, port: number): HostLine {
  const outer = line.safeParse(jsonOf(text));
  // The app writes its events on lines of their own, or through the host, which wraps them.
  const message = outer.success ? outer.data.message : text;
  const level = outer.success ? outer.data.level : "output";
  const inner = said.safeParse(jsonOf(message));
  if (!inner.success) return { heardAt, port, level, message };
  const { event, set, outcome } = inner.data;
  return {
    heardAt,
    port,
    level,
    event,
    message,
    ...(set === undefined ? {} : { set }),
    ...(outcome === undefined ? {} : { outcome }),
  };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
