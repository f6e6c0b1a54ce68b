import { moduleFolder } from './go-module.ts'

/** The version that is tested with. */
export const GATEWAY_API_VERSION = 'v1.6.1'

/** The folder with the definitions of Gateway API's standard channel, as its Go module has them. */
export const gatewayApiDefinitions = (): Promise<string> =>
  moduleFolder('sigs.k8s.io/gateway-api', GATEWAY_API_VERSION, 'config/crd/standard')
