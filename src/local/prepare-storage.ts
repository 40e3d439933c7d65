import { compose, ConfigError, readConfig } from "../compose.ts";

/**
 * Creates the table and the queues that these app settings name, as a deployment does before the app starts: a sender must not wait for the
 * app's first tick, which also creates them. Invalid settings are left to the app, which reports them in its log.
 */
export async function prepareStorage(settings: Readonly<Record<string, string>>): Promise<void> {
  try {
    await compose(readConfig(settings), () => undefined).prepare();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
  }
}
