import path from 'node:path'

/** The programs that run in place of the shop's images. Images that are not listed run the lab's own program. */
export const SHOP_IMAGES: Readonly<Record<string, readonly string[]>> = {
  'example.org/cart': [process.execPath, path.join(import.meta.dirname, 'cart.ts')],
}
