import type { AgentConfig } from './config.ts'

/** Where the certificates of listeners are. */
export const certificateDirectory = ({ haproxy }: Pick<AgentConfig, 'haproxy'>): string =>
  `${haproxy.runDirectory}-certificates`
