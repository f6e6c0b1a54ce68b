import { moduleFolder } from './go-module.ts'

/** The version that is tested with. */
export const GATEWAY_API_VERSION = 'v1.6.1'

/** The folder with the definitions of a channel of Gateway API, as its Go module has them. */
export const gatewayApiDefinitions = (channel: 'standard' | 'experimental' = 'standard'): Promise<string> =>
  moduleFolder('sigs.k8s.io/gateway-api', GATEWAY_API_VERSION, `config/crd/${channel}`)
