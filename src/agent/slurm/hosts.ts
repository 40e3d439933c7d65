import { expandHostList } from "../../domain/host-list.ts";

/** Names that one host list of Slurm may have. Slurm's own limit is 64,000. */
const MOST_HOSTS = 65_536;

/** Whether a text may be a node name. It goes into command lines and messages. */
export const isHost = (text: string): boolean => /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/.test(text);

/** The names of a host list that Slurm or the agent's file has. Undefined if it is none. */
export function expandHosts(list: string): readonly string[] | undefined {
  const names = expandHostList(list, MOST_HOSTS);
  return "expected" in names || !names.every(isHost) ? undefined : names;
}
