/** Command lines by image name, with or without a tag. */
export type Images = Readonly<Record<string, readonly string[]>>

/** The program that stands for an image: by its whole name, else by its name without tag and digest; null for none. */
export const programOf = (images: Images, image: string): readonly string[] | null =>
  images[image] ?? images[repositoryOf(image)] ?? null

/** A colon before the last slash belongs to the registry's port. */
const repositoryOf = (image: string): string => image.replace(/@[^@]*$/, '').replace(/:[^:/]*$/, '')
