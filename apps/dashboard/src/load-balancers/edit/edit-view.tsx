export const EditView = ({ id }: { readonly id: string }) => <p>{id}</p>
