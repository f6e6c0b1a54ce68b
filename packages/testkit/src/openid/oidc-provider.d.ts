/** What we use of oidc-provider, which has no types of its own. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  export interface Grant {
    addOIDCScope(scope: string): void
    save(): Promise<string>
  }

  export interface ProviderContext {
    body: unknown
    readonly oidc?: {
      readonly route: string
      readonly client: { readonly clientId: string }
      readonly session: { readonly accountId: string }
      readonly provider: {
        readonly Grant: new (of: { readonly clientId: string; readonly accountId: string }) => Grant
      }
    }
  }

  export default class Provider {
    constructor(issuer: string, configuration: object)
    use(handle: (context: ProviderContext, next: () => Promise<void>) => Promise<void>): void
    callback(): (request: IncomingMessage, response: ServerResponse) => void
  }
}
