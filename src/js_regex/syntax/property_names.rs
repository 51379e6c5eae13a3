//! The property names of ECMA-262, exact and case-sensitive.
//!
//! Each list holds its entries apart by spaces, the names of one entry apart by `/`; the first
//! name of an entry is the one that the Unicode tables are asked for.

/// `General_Category` values.
pub(super) const CATEGORIES: &str = "\
    C/Other Cc/Control/cntrl Cf/Format Cn/Unassigned Co/Private_Use Cs/Surrogate L/Letter \
    LC/Cased_Letter Ll/Lowercase_Letter Lm/Modifier_Letter Lo/Other_Letter Lt/Titlecase_Letter \
    Lu/Uppercase_Letter M/Mark/Combining_Mark Mc/Spacing_Mark Me/Enclosing_Mark \
    Mn/Nonspacing_Mark N/Number Nd/Decimal_Number/digit Nl/Letter_Number No/Other_Number \
    P/Punctuation/punct Pc/Connector_Punctuation Pd/Dash_Punctuation Pe/Close_Punctuation \
    Pf/Final_Punctuation Pi/Initial_Punctuation Po/Other_Punctuation Ps/Open_Punctuation \
    S/Symbol Sc/Currency_Symbol Sk/Modifier_Symbol Sm/Math_Symbol So/Other_Symbol Z/Separator \
    Zl/Line_Separator Zp/Paragraph_Separator Zs/Space_Separator \
";

/// `Script` and `Script_Extensions` values.
pub(super) const SCRIPTS: &str = "\
    Adlam/Adlm Ahom Anatolian_Hieroglyphs/Hluw Arabic/Arab Armenian/Armn Avestan/Avst \
    Balinese/Bali Bamum/Bamu Bassa_Vah/Bass Batak/Batk Bengali/Beng Bhaiksuki/Bhks Bopomofo/Bopo \
    Brahmi/Brah Braille/Brai Buginese/Bugi Buhid/Buhd Canadian_Aboriginal/Cans Carian/Cari \
    Caucasian_Albanian/Aghb Chakma/Cakm Cham Cherokee/Cher Chorasmian/Chrs Common/Zyyy \
    Coptic/Copt/Qaac Cuneiform/Xsux Cypriot/Cprt Cypro_Minoan/Cpmn Cyrillic/Cyrl Deseret/Dsrt \
    Devanagari/Deva Dives_Akuru/Diak Dogra/Dogr Duployan/Dupl Egyptian_Hieroglyphs/Egyp \
    Elbasan/Elba Elymaic/Elym Ethiopic/Ethi Garay/Gara Georgian/Geor Glagolitic/Glag Gothic/Goth \
    Grantha/Gran Greek/Grek Gujarati/Gujr Gunjala_Gondi/Gong Gurmukhi/Guru Gurung_Khema/Gukh \
    Han/Hani Hangul/Hang Hanifi_Rohingya/Rohg Hanunoo/Hano Hatran/Hatr Hebrew/Hebr Hiragana/Hira \
    Imperial_Aramaic/Armi Inherited/Qaai/Zinh Inscriptional_Pahlavi/Phli \
    Inscriptional_Parthian/Prti Javanese/Java Kaithi/Kthi Kannada/Knda Katakana/Kana Kawi \
    Kayah_Li/Kali Kharoshthi/Khar Khitan_Small_Script/Kits Khmer/Khmr Khojki/Khoj Khudawadi/Sind \
    Kirat_Rai/Krai Lao/Laoo Latin/Latn Lepcha/Lepc Limbu/Limb Linear_A/Lina Linear_B/Linb Lisu \
    Lycian/Lyci Lydian/Lydi Mahajani/Mahj Makasar/Maka Malayalam/Mlym Mandaic/Mand \
    Manichaean/Mani Marchen/Marc Masaram_Gondi/Gonm Medefaidrin/Medf Meetei_Mayek/Mtei \
    Mende_Kikakui/Mend Meroitic_Cursive/Merc Meroitic_Hieroglyphs/Mero Miao/Plrd Modi \
    Mongolian/Mong Mro/Mroo Multani/Mult Myanmar/Mymr Nabataean/Nbat Nag_Mundari/Nagm \
    Nandinagari/Nand New_Tai_Lue/Talu Newa Nko/Nkoo Nushu/Nshu Nyiakeng_Puachue_Hmong/Hmnp \
    Ogham/Ogam Ol_Chiki/Olck Ol_Onal/Onao Old_Hungarian/Hung Old_Italic/Ital \
    Old_North_Arabian/Narb Old_Permic/Perm Old_Persian/Xpeo Old_Sogdian/Sogo \
    Old_South_Arabian/Sarb Old_Turkic/Orkh Old_Uyghur/Ougr Oriya/Orya Osage/Osge Osmanya/Osma \
    Pahawh_Hmong/Hmng Palmyrene/Palm Pau_Cin_Hau/Pauc Phags_Pa/Phag Phoenician/Phnx \
    Psalter_Pahlavi/Phlp Rejang/Rjng Runic/Runr Samaritan/Samr Saurashtra/Saur Sharada/Shrd \
    Shavian/Shaw Siddham/Sidd SignWriting/Sgnw Sinhala/Sinh Sogdian/Sogd Sora_Sompeng/Sora \
    Soyombo/Soyo Sundanese/Sund Sunuwar/Sunu Syloti_Nagri/Sylo Syriac/Syrc Tagalog/Tglg \
    Tagbanwa/Tagb Tai_Le/Tale Tai_Tham/Lana Tai_Viet/Tavt Takri/Takr Tamil/Taml Tangsa/Tnsa \
    Tangut/Tang Telugu/Telu Thaana/Thaa Thai Tibetan/Tibt Tifinagh/Tfng Tirhuta/Tirh Todhri/Todr \
    Toto Tulu_Tigalari/Tutg Ugaritic/Ugar Unknown/Zzzz Vai/Vaii Vithkuqi/Vith Wancho/Wcho \
    Warang_Citi/Wara Yezidi/Yezi Yi/Yiii Zanabazar_Square/Zanb \
";

/// Binary properties.
pub(super) const BINARY: &str = "\
    ASCII ASCII_Hex_Digit/AHex Alphabetic/Alpha Any Assigned Bidi_Control/Bidi_C \
    Bidi_Mirrored/Bidi_M Case_Ignorable/CI Cased Changes_When_Casefolded/CWCF \
    Changes_When_Casemapped/CWCM Changes_When_Lowercased/CWL Changes_When_NFKC_Casefolded/CWKCF \
    Changes_When_Titlecased/CWT Changes_When_Uppercased/CWU Dash Default_Ignorable_Code_Point/DI \
    Deprecated/Dep Diacritic/Dia Emoji Emoji_Component/EComp Emoji_Modifier/EMod \
    Emoji_Modifier_Base/EBase Emoji_Presentation/EPres Extended_Pictographic/ExtPict \
    Extender/Ext Grapheme_Base/Gr_Base Grapheme_Extend/Gr_Ext Hex_Digit/Hex \
    IDS_Binary_Operator/IDSB IDS_Trinary_Operator/IDST ID_Continue/IDC ID_Start/IDS \
    Ideographic/Ideo Join_Control/Join_C Logical_Order_Exception/LOE Lowercase/Lower Math \
    Noncharacter_Code_Point/NChar Pattern_Syntax/Pat_Syn Pattern_White_Space/Pat_WS \
    Quotation_Mark/QMark Radical Regional_Indicator/RI Sentence_Terminal/STerm Soft_Dotted/SD \
    Terminal_Punctuation/Term Unified_Ideograph/UIdeo Uppercase/Upper Variation_Selector/VS \
    White_Space/space XID_Continue/XIDC XID_Start/XIDS \
";

/// Properties of strings, under v only.
pub(super) const STRINGS: [&str; 7] = [
    "Basic_Emoji",
    "Emoji_Keycap_Sequence",
    "RGI_Emoji",
    "RGI_Emoji_Flag_Sequence",
    "RGI_Emoji_Modifier_Sequence",
    "RGI_Emoji_Tag_Sequence",
    "RGI_Emoji_ZWJ_Sequence",
];

/// The regions that have a flag, as letters.
pub(super) const FLAGS: &str = "\
    AC AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ \
    BR BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CP CQ CR CU CV CW CX CY CZ DE DG DJ \
    DK DM DO DZ EA EC EE EG EH ER ES ET EU FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP \
    GQ GR GS GT GU GW GY HK HM HN HR HT HU IC ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH \
    KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO \
    MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL \
    PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV \
    SX SY SZ TA TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM UN US UY UZ VA VC VE VG \
    VI VN VU WF WS XK YE YT ZA ZM ZW \
";

/// The first name of the entry that has the name.
pub(super) fn find(list: &'static str, name: &str) -> Option<&'static str> {
    let entry = list.split_ascii_whitespace().find(|e| e.split('/').any(|n| n == name))?;
    entry.split('/').next()
}
