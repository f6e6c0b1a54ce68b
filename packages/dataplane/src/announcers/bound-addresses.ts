import { HelperError, type NativeHelper } from '@spout/sys'

/** The change mark of a namespace (`NativeHelper.rtnlMark`). While it stays the same, nothing needs to be listed. */
export async function markOf(helper: NativeHelper, netns: string | undefined): Promise<string> {
  try {
    return await helper.rtnlMark({ netns })
  } catch (error) {
    if (error instanceof HelperError && error.errno === 'ENOENT') return 'gone'
    throw error
  }
}

/** The addresses of an interface; none if the interface or its namespace does not exist. */
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
