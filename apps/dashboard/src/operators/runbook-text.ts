import markdown from '../../../../docs/runbook.md?raw'
import { readRunbook } from './runbook.ts'

/** The runbook of this version. It is loaded with the first problem that is shown. */
export const RUNBOOK = readRunbook(markdown)
