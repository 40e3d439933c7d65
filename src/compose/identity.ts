import type { TokenCredential } from "@azure/identity";

/** Loads @azure/identity when it is first used. Nothing else here costs a cold start more (platform.md section 6). */
export function managedIdentity(clientId: string | undefined): TokenCredential {
  return whenFirstUsed(async () => {
    const { ManagedIdentityCredential } = await import("@azure/identity");
    return clientId === undefined
      ? new ManagedIdentityCredential()
      : new ManagedIdentityCredential({ clientId });
  });
}

/** The identity that is signed in on this machine (az login, environment, managed identity). For checks from a desk. */
export function ownIdentity(): TokenCredential {
  return whenFirstUsed(async () => {
    const { DefaultAzureCredential } = await import("@azure/identity");
    return new DefaultAzureCredential();
  });
}

function whenFirstUsed(load: () => Promise<TokenCredential>): TokenCredential {
  let loaded: Promise<TokenCredential> | undefined;
  return {
    async getToken(scopes, options) {
      loaded ??= load();
      return (await loaded).getToken(scopes, options);
    },
  };
}
