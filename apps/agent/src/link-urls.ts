import type { AgentConfig } from './config.ts'

const DEFAULT_URL = 'https://localhost:9131'

/** Whether the node has work of its own settings. */
export const hasLocalWork = ({ local }: Pick<AgentConfig, 'local'>): boolean =>
  Object.keys(local.loadBalancers).length > 0

/** The agent links of the control planes, of which one leads. Empty: the node has the work of its own settings alone. */
export function linkUrlsOf(config: Pick<AgentConfig, 'local' | 'server'>): readonly string[] {
  const { url, others } = config.server
  return hasLocalWork(config) && url === '' ? [] : [url || DEFAULT_URL, ...others]
}
