import path from 'node:path'

/** What the containers of the shop run that do not run the lab's own program. */
export const SHOP_IMAGES: Readonly<Record<string, readonly string[]>> = {
  'example.org/cart': [process.execPath, path.join(import.meta.dirname, 'cart.ts')],
}
