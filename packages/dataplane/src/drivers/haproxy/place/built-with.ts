import { execOk } from '@spout/sys'

/** Whether this HAProxy was built with Lua. A program that does not run was not. */
export async function isBuiltWithLua(executable: string): Promise<boolean> {
  const build = await execOk([executable, '-vv']).catch(() => '')
  return /^Built with Lua version/m.test(build)
}
