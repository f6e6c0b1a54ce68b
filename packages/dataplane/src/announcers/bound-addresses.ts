import { HelperError, type NativeHelper } from '@spout/sys'

/** A word for a namespace as it is (`NativeHelper.rtnlMark`): while it stays the same nothing need be listed. */
export async function markOf(helper: NativeHelper, netns: string | undefined): Promise<string> {
  try {
    return await helper.rtnlMark({ netns })
  } catch (error) {
    if (error instanceof HelperError && error.errno === 'ENOENT') return 'gone'
    throw error
  }
}

/** The addresses that an interface has. One that is gone, or its namespace, has none. */
export async function addressesOn(
  helper: NativeHelper,
  at: { readonly netns?: string; readonly dev: string },
): Promise<ReadonlySet<string>> {
  try {
    return new Set((await helper.addrList(at)).map(({ address }) => address))
  } catch (error) {
    if (error instanceof HelperError && (error.errno === 'ENODEV' || error.errno === 'ENOENT')) return new Set()
    throw error
  }
}
