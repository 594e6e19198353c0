//! Embeddings as bytes: little-endian `f32`.

/// An embedding as it is stored.
pub fn to_bytes(embedding: &[f32]) -> Vec<u8> {
    embedding.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// An embedding as it was stored.
pub fn from_bytes(bytes: &[u8]) -> Vec<f32> {
    numbers(bytes).collect()
}

/// Its numbers, one by one.
pub fn numbers(bytes: &[u8]) -> impl Iterator<Item = f32> {
    bytes.as_chunks().0.iter().map(|chunk| f32::from_le_bytes(*chunk))
}
