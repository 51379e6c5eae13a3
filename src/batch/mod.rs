//! Scoring many texts.
