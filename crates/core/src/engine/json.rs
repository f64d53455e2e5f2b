//! JSON text of a result or failure, refusing what JSON cannot say.
//!
//! serde_json writes NaN and the infinities as `null`, so that a replay would answer something else
//! than the first run, or not decode. Everything else is serde_json's.

use std::fmt::Display;

use serde::de::DeserializeOwned;
use serde::ser::{
    SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant,
};
use serde::{Serialize, Serializer};

use crate::JsonFault;
use crate::json_fault::refusals;

/// The JSON text of `value`.
pub(super) fn to_text<T: Serialize + ?Sized>(value: &T) -> Result<String, JsonFault> {
    serde_json::to_string(&Finite(value)).map_err(|error| JsonFault::writing(&error))
}

/// The value of a JSON text.
pub(crate) fn from_text<T: DeserializeOwned>(json: &str) -> Result<T, JsonFault> {
    serde_json::from_str(json).map_err(|error| JsonFault::from(&error))
}

/// A value, or the serializer that it is written to, under the rule that numbers are finite.
struct Finite<T>(T);

impl<T: Serialize + ?Sized> Serialize for Finite<&T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(Finite(serializer))
    }
}

fn refuse<E: serde::ser::Error>() -> E {
    E::custom(refusals::NOT_FINITE)
}

/// Methods that are passed on as they are.
macro_rules! pass_on {
    ($($method:ident($($argument:ident: $type:ty),*);)+) => {
        $(fn $method(self, $($argument: $type),*) -> Result<S::Ok, S::Error> {
            self.0.$method($($argument),*)
        })+
    };
}

/// Methods that begin something with parts.
macro_rules! begin {
    ($($method:ident($($argument:ident: $type:ty),*) -> $compound:ident;)+) => {
        $(fn $method(self, $($argument: $type),*) -> Result<Self::$compound, S::Error> {
            self.0.$method($($argument),*).map(Finite)
        })+
    };
}

impl<S: Serializer> Serializer for Finite<S> {
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = Finite<S::SerializeSeq>;
    type SerializeTuple = Finite<S::SerializeTuple>;
    type SerializeTupleStruct = Finite<S::SerializeTupleStruct>;
    type SerializeTupleVariant = Finite<S::SerializeTupleVariant>;
    type SerializeMap = Finite<S::SerializeMap>;
    type SerializeStruct = Finite<S::SerializeStruct>;
    type SerializeStructVariant = Finite<S::SerializeStructVariant>;

    fn serialize_f32(self, value: f32) -> Result<S::Ok, S::Error> {
        if value.is_finite() { self.0.serialize_f32(value) } else { Err(refuse()) }
    }

    fn serialize_f64(self, value: f64) -> Result<S::Ok, S::Error> {
        if value.is_finite() { self.0.serialize_f64(value) } else { Err(refuse()) }
    }

    pass_on! {
        serialize_bool(value: bool);
        serialize_i8(value: i8);
        serialize_i16(value: i16);
        serialize_i32(value: i32);
        serialize_i64(value: i64);
        serialize_i128(value: i128);
        serialize_u8(value: u8);
        serialize_u16(value: u16);
        serialize_u32(value: u32);
        serialize_u64(value: u64);
        serialize_u128(value: u128);
        serialize_char(value: char);
        serialize_str(value: &str);
        serialize_bytes(value: &[u8]);
        serialize_none();
        serialize_unit();
        serialize_unit_struct(name: &'static str);
        serialize_unit_variant(name: &'static str, index: u32, variant: &'static str);
    }

    begin! {
        serialize_seq(len: Option<usize>) -> SerializeSeq;
        serialize_tuple(len: usize) -> SerializeTuple;
        serialize_tuple_struct(name: &'static str, len: usize) -> SerializeTupleStruct;
        serialize_tuple_variant(name: &'static str, index: u32, variant: &'static str, len: usize)
            -> SerializeTupleVariant;
        serialize_map(len: Option<usize>) -> SerializeMap;
        serialize_struct(name: &'static str, len: usize) -> SerializeStruct;
        serialize_struct_variant(name: &'static str, index: u32, variant: &'static str, len: usize)
            -> SerializeStructVariant;
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.0.serialize_some(&Finite(value))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        self.0.serialize_newtype_struct(name, &Finite(value))
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        self.0.serialize_newtype_variant(name, index, variant, &Finite(value))
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.0.collect_str(value)
    }

    fn is_human_readable(&self) -> bool {
        self.0.is_human_readable()
    }
}

/// The parts of something that was begun.
macro_rules! parts {
    ($($trait:ident: $($method:ident($($name:ident)?)),+;)+) => {
        $(impl<C: $trait> $trait for Finite<C> {
            type Ok = C::Ok;
            type Error = C::Error;

            $(fn $method<T: Serialize + ?Sized>(
                &mut self,
                $($name: &'static str,)?
                value: &T,
            ) -> Result<(), C::Error> {
                self.0.$method($($name,)? &Finite(value))
            })+

            fn end(self) -> Result<C::Ok, C::Error> {
                self.0.end()
            }
        })+
    };
}

parts! {
    SerializeSeq: serialize_element();
    SerializeTuple: serialize_element();
    SerializeTupleStruct: serialize_field();
    SerializeTupleVariant: serialize_field();
    SerializeMap: serialize_key(), serialize_value();
    SerializeStruct: serialize_field(key);
    SerializeStructVariant: serialize_field(key);
}
