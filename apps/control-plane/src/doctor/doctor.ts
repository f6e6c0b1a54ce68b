import { readCommandLine } from '@spout/runtime/command-line'
import { doctorArguments, findingsOfAll, needOf, writtenFindings } from '@spout/runtime/findings'
import { controlPlaneConfig } from '../config.ts'
import { CONTROL_PLANE_CHECKS } from './control-plane-checks.ts'

/** Where the packages put the settings. */
const SETTINGS = '/etc/spout/control-plane.yaml'

/**
 * `spout-control-plane doctor`. @param argv what follows the word. @returns the exit code
 * @throws ConfigError for wrong settings
 */
export async function doctor(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  const asked = doctorArguments(argv, 'spout-control-plane', SETTINGS)
  if (asked.wrong !== null) {
    process.stderr.write(`spout-control-plane: ${asked.wrong}\n`)
    return 2
  }
  if (asked.usage !== null) {
    process.stdout.write(asked.usage)
    return 0
  }
  const settings = readCommandLine(controlPlaneConfig, 'SPOUT', asked.settings, env)
  if (settings.print !== null) return 2
  const findings = await findingsOfAll(CONTROL_PLANE_CHECKS, { config: settings.config, now: () => new Date() })
  const colour = process.stdout.isTTY === true && !env.NO_COLOR
  process.stdout.write(writtenFindings(findings, { ...asked, colour }))
  const need = needOf(findings)
  if (need === null) return 0
  process.stderr.write(`spout-control-plane: ${need}\n`)
  return 1
}
