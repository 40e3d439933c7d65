import { compose, ConfigError, readConfig } from "../compose.ts";

/**
 * Makes the table and the queues that these app settings name, as a deployment does before the app starts: a sender must not wait for the
 * app's first tick, which also makes them. Settings that do not make sense are left to the app, which names them in its log.
 */
export async function prepareStorage(settings: Readonly<Record<string, string>>): Promise<void> {
  try {
    await compose(readConfig(settings), () => undefined).prepare();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
  }
}
