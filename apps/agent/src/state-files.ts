import { join } from 'node:path'
import type { AgentConfig } from './config.ts'

type State = Pick<AgentConfig, 'stateDirectory'>

/** The node's key and certificate. */
export const identityFile = ({ stateDirectory }: State): string => join(stateDirectory, 'identity.json')

/** The last good state of the node. */
export const stateFile = ({ stateDirectory }: State): string => join(stateDirectory, 'entries.journal')

/** The highest term of leading that the node has followed. */
export const termFile = ({ stateDirectory }: State): string => join(stateDirectory, 'highest-term.json')

/** The fabric interface that the node works on. */
export const fabricFile = ({ stateDirectory }: State): string => join(stateDirectory, 'fabric.json')
