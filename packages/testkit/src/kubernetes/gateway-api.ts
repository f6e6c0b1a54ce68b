import path from 'node:path'
import { must } from '../lab/run.ts'
import { ensureGo } from './go-toolchain.ts'

/** The version that is tested with. */
export const GATEWAY_API_VERSION = 'v1.6.1'

/**
 * The folder with the definitions of Gateway API's standard channel, as its Go module has them. The module is fetched
 * once, and checked against Go's checksum database.
 */
export async function gatewayApiDefinitions(): Promise<string> {
  const go = await ensureGo(() => {})
  const module = `sigs.k8s.io/gateway-api@${GATEWAY_API_VERSION}`
  const answer = await must([go, 'mod', 'download', '-json', module], {
    timeoutMs: 300_000,
    env: { GO111MODULE: 'on', GOFLAGS: '-mod=mod', GOWORK: 'off' },
  })
  return path.join((JSON.parse(answer) as { readonly Dir: string }).Dir, 'config/crd/standard')
}
